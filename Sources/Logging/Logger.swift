import LinuxSystem
import Synchronization

/// Writes what happened, one line each, to standard error.
///
/// Lines carry a constant message and typed fields. Where standard error is systemd's journal (`JOURNAL_STREAM`), they
/// begin with a priority; elsewhere with the time.
package struct Logger: Sendable {
  private let level: Level
  private let isJournal: Bool
  private let sink: @Sendable ([UInt8]) -> Void

  /// A logger that drops what is below `level`.
  ///
  /// `sink` takes whole lines; it must not block for long.
  package init(level: LogLevel, isJournal: Bool = false, sink: @escaping @Sendable ([UInt8]) -> Void) {
    self.level = Level(level)
    self.isJournal = isJournal
    self.sink = sink
  }

  /// The level that all copies of a logger share.
  private final class Level: Sendable {
    let value: Atomic<Int>

    init(_ level: LogLevel) { value = Atomic(level.rawValue) }
  }

  /// Drops what is below another level from now on.
  package func setLevel(_ level: LogLevel) { self.level.value.store(level.rawValue, ordering: .relaxed) }

  /// A logger of which nobody hears.
  package static let silent = Logger(level: .error) { _ in }

  /// Somebody must act.
  package func error(_ message: StaticString, _ fields: LogField...) { write(.error, message, fields) }
  /// Somebody should look.
  package func warning(_ message: StaticString, _ fields: LogField...) { write(.warning, message, fields) }
  /// Something rare that is in order.
  package func notice(_ message: StaticString, _ fields: LogField...) { write(.notice, message, fields) }
  /// What happened.
  package func info(_ message: StaticString, _ fields: LogField...) { write(.info, message, fields) }
  /// What happened, with fields that are not all always there.
  package func info(_ message: StaticString, _ fields: [LogField]) { write(.info, message, fields) }
  /// What a developer wants to know.
  package func debug(_ message: StaticString, _ fields: LogField...) { write(.debug, message, fields) }

  private func write(_ level: LogLevel, _ message: StaticString, _ fields: [LogField]) {
    guard level.rawValue <= self.level.value.load(ordering: .relaxed) else { return }
    var line = isJournal ? "<\(level.priority)>" : "\(WallClock.timestamp) \(level.word): "
    line += "\(message)"
    for field in fields { line += " \(field.name)=\(field.value)" }
    line += "\n"
    sink(Array(line.utf8))
  }
}
