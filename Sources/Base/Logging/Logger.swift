import LinuxSystem
import Synchronization

/// Writes events to the log, one line each.
///
/// Lines carry a constant message and typed fields, see ``LogFormat``. A flood of lines is cut, see ``LogBudget``:
/// dropped lines are counted, and the count is written.
package struct Logger: Sendable {
  private let shared: Shared
  private let format: LogFormat
  private let uptime: @Sendable () -> Duration
  private let sink: @Sendable ([UInt8]) -> Void

  /// A logger that drops lines below `level`.
  ///
  /// - Parameters:
  ///   - level: the least grave level that is written.
  ///   - format: how lines are written.
  ///   - uptime: the clock that the budget goes by.
  ///   - sink: takes whole lines; it must not wait. See ``LogQueue``.
  package init(
    level: LogLevel, format: LogFormat = LogFormat(), uptime: @escaping @Sendable () -> Duration = { BootClock.now },
    sink: @escaping @Sendable ([UInt8]) -> Void
  ) {
    shared = Shared(level)
    self.format = format
    self.uptime = uptime
    self.sink = sink
  }

  /// The state shared by all copies of a logger.
  private final class Shared: Sendable {
    let level: Atomic<Int>
    let budget = Mutex(LogBudget())

    init(_ level: LogLevel) { self.level = Atomic(level.rawValue) }
  }

  /// Drops lines below another level from now on.
  package func setLevel(_ level: LogLevel) { shared.level.store(level.rawValue, ordering: .relaxed) }

  /// A logger that writes nothing.
  package static let silent = Logger(level: .error) { _ in }

  /// Something that must be fixed.
  package func error(_ message: StaticString, _ fields: LogField...) { write(.error, message, fields) }
  /// Something that should be examined.
  package func warning(_ message: StaticString, _ fields: LogField...) { write(.warning, message, fields) }
  /// Something rare that is in order.
  package func notice(_ message: StaticString, _ fields: LogField...) { write(.notice, message, fields) }
  /// Logs an ordinary event.
  package func info(_ message: StaticString, _ fields: LogField...) { write(.info, message, fields) }
  /// Logs a detail for developers.
  package func debug(_ message: StaticString, _ fields: LogField...) { write(.debug, message, fields) }

  /// Whether lines of a level are written.
  package func writes(_ level: LogLevel) -> Bool { level.rawValue <= shared.level.load(ordering: .relaxed) }

  /// A line of any level, with fields that are not all always there.
  package func write(_ level: LogLevel, _ message: StaticString, _ fields: [LogField]) {
    guard writes(level) else { return }
    let line = format.line(level, message, fields)
    let now = uptime()
    let verdict = shared.budget.withLock { budget in
      budget.count("\(message)", byteCount: line.count, isExempt: level == .debug, at: now)
    }
    guard case .write(let dropped) = verdict else { return }
    if dropped > 0 { sink(format.dropped(dropped, of: "\(message)")) }
    sink(line)
  }

  /// Writes the number of dropped lines that are not reported yet: at the end of a run.
  package func logDropped() {
    for (message, count) in shared.budget.withLock({ $0.takeDropped() }) { sink(format.dropped(count, of: message)) }
  }
}
