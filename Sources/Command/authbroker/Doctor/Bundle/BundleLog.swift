import BrokerProtocol

/// The last lines of the broker's log without what is their reader's own.
///
/// A line of the log has a time, a level, a constant message and fields (`name=value`). Of the fields, numbers and the
/// words of this program are shown. A line of any other form is not the broker's, and is left out.
struct BundleLog {
  /// How many lines are kept.
  static let lineCount = 300
  /// How much of the file's end is read: so many lines of the usual length, and more.
  static let byteCount = 128 << 10

  private static let levels: Set = ["error:", "warning:", "notice:", "info:", "debug:"]
  /// The fields whose values are words of this program, or names that ``PublicText`` knows.
  private static let shownFields: Set = [
    "profile", "kind", "host", "channel", "provider", "purpose", "method", "entrance", "version",
  ]
  /// Stands in the place of a line that is left out.
  private static let leftOut = "(a line that is not the broker's own)"

  /// Shows the words of messages and fields.
  let text: PublicText

  /// The last lines of the end of a log.
  func lines(_ end: String) -> [String] {
    let lines = end.split(separator: "\n").suffix(Self.lineCount).map { line(String($0)) }
    return lines.isEmpty ? ["(no log here: it is the service manager's, or nothing was written yet)"] : lines
  }

  private func line(_ line: String) -> String {
    let words = line.split(separator: " ", maxSplits: 2)
    guard words.count == 3, let time = Timestamp(String(words[0])), Self.levels.contains(String(words[1])) else {
      return Self.leftOut
    }
    let (message, fields) = Self.parts(words[2])
    let shown = fields.map { "\($0.name)=\(value($0.name, $0.value))" }
    return ([time.description, String(words[1]), text.sentence(message)] + shown).joined(separator: " ")
  }

  /// The message, and the fields behind it; in quotes, a value may have blanks.
  private static func parts(_ rest: Substring) -> (message: String, fields: [(name: String, value: String)]) {
    var (message, fields) = ([Substring](), [(name: String, value: String)]())
    var isOpen = false
    for word in rest.split(separator: " ") {
      if isOpen {
        isOpen = !ends(word)
        continue
      }
      let equals = word.firstIndex(of: "=")
      let name = equals.map { word[..<$0] } ?? ""
      guard let equals, !name.isEmpty, name.allSatisfy({ $0.isASCII && $0.isLetter }) else {
        // Behind the first field there are only fields.
        if fields.isEmpty { message.append(word) }
        continue
      }
      let value = word[word.index(after: equals)...]
      isOpen = value.hasPrefix("\"") && !(value.count > 1 && ends(value))
      fields.append((String(name), isOpen ? "\"" : String(value)))
    }
    return (message.joined(separator: " "), fields)
  }

  /// Whether a word ends a value in quotes.
  private static func ends(_ word: Substring) -> Bool { word.hasSuffix("\"") && !word.hasSuffix("\\\"") }

  private func value(_ name: String, _ value: String) -> String {
    let isNumber = value.utf8.count <= 10 && value.utf8.allSatisfy { (0x30...0x39).contains($0) }
    guard !isNumber else { return Self.numbers.contains(name) ? value : PublicText.removed }
    guard Self.shownFields.contains(name) else { return PublicText.removed }
    let isWord = text.isName(value) || ErrorKind(rawValue: value) != nil || Self.words.contains(value)
    return isWord ? value : PublicText.removed
  }

  private static let numbers: Set = [
    "status", "seconds", "count", "connection", "profiles", "pid", "milliseconds", "lines", "bytes", "aheadSeconds",
    "errno",
  ]
  private static let words: Set = [
    "GET", "POST", "PUT", "PATCH", "DELETE", "outbox", "command", "smtp", "sms", "login", "refresh", "logout", "probe",
    "metadata", "user", "revocation", "token", "keys",
  ]
}
