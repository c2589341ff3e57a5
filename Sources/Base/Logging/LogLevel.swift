/// The urgency of a log line.
package enum LogLevel: Int, Sendable, Comparable, CaseIterable {
  /// An operator must act.
  case error
  /// An operator should look.
  case warning
  /// Something that happens rarely and is in order, such as a start or a stop.
  case notice
  /// An ordinary event.
  case info
  /// A detail for developers.
  case debug

  /// Orders levels from the gravest.
  package static func < (left: LogLevel, right: LogLevel) -> Bool { left.rawValue < right.rawValue }

  /// The word in a line.
  var word: String {
    switch self {
    case .error: "error"
    case .warning: "warning"
    case .notice: "notice"
    case .info: "info"
    case .debug: "debug"
    }
  }

  /// The priority that systemd reads from the beginning of a line (sd-daemon(3)).
  var priority: Int {
    switch self {
    case .error: 3
    case .warning: 4
    case .notice: 5
    case .info: 6
    case .debug: 7
    }
  }
}
