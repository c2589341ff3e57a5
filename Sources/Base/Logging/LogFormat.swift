import LinuxSystem

/// The format of a log line.
///
/// A line has a constant message and typed fields. Where standard error is systemd's journal (`JOURNAL_STREAM`), it
/// begins with a priority; elsewhere with the time.
package struct LogFormat: Sendable {
  private let isJournal: Bool

  /// The format of a log that the journal reads, or of another one.
  package init(isJournal: Bool = false) { self.isJournal = isJournal }

  /// One line, with its end.
  package func line(_ level: LogLevel, _ message: StaticString, _ fields: [LogField]) -> [UInt8] {
    var line = isJournal ? "<\(level.priority)>" : "\(WallClock.timestamp) \(level.word): "
    line += "\(message)"
    for field in fields { line += " \(field.name)=\(field.value)" }
    line += "\n"
    return Array(line.utf8)
  }

  /// The line that stands in the place of lines that are missing.
  ///
  /// - Parameters:
  ///   - count: how many are missing.
  ///   - message: the message that all of them had; nil where they had several.
  /// - Returns: the line, with its end.
  package func dropped(_ count: Int, of message: String? = nil) -> [UInt8] {
    line(.warning, "dropped lines", [.number("lines", count)] + (message.map { [.word("message", $0)] } ?? []))
  }
}
