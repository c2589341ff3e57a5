/// The connections that have begun a login, and the programs behind them: they are shown what others are not.
///
/// Known for as long as the broker's process lives; it is in no store, and never written for a client. The command,
/// which is told of logins by the broker alone, knows of none.
package struct LoginBeginners: Sendable, Equatable {
  #if !hasFeature(Embedded)
  /// The numbers of the connections.
  package private(set) var connections: [UInt64] = []
  /// The processes that have made them, as far as the kernel names one.
  package private(set) var processes: [Int32] = []

  /// Adds a connection; `process` is positive where the kernel names one in this PID namespace.
  package mutating func add(_ connection: UInt64, of process: Int32?) {
    connections.append(connection)
    if let process, process > 0 { processes.append(process) }
  }
  #endif

  package init() {}

  /// Whether the same is told of two logins, which does not hang on who has begun them: always.
  package static func == (_: LoginBeginners, _: LoginBeginners) -> Bool { true }
}
