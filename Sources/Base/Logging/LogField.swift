/// One named value of a log line.
///
/// There is no case for a secret, and none for free text of a peer: what cannot be written here cannot leak.
package struct LogField: Sendable {
  /// A literal of the program, so that no input can name a field.
  let name: StaticString
  /// The value as it is written, with nothing in it that a terminal or a reader of lines might take for more.
  let value: String

  /// A number.
  package static func number(_ name: StaticString, _ value: Int) -> LogField {
    LogField(name: name, value: String(value))
  }

  /// An error number of the system.
  package static func code(_ name: StaticString, _ value: Int32) -> LogField {
    LogField(name: name, value: String(value))
  }

  /// A word of ours: a name, a kind, a path or a sentence that the broker made itself.
  package static func word(_ name: StaticString, _ value: String) -> LogField {
    LogField(name: name, value: neutralised(value))
  }

  /// How long a value may be.
  private static let lengthLimit = 300

  /// Quotes a value and escapes everything that a terminal might obey (CVE-2024-52005).
  private static func neutralised(_ text: String) -> String {
    var result = ""
    for scalar in text.unicodeScalars.prefix(lengthLimit) {
      switch scalar.value {
      case 0x22, 0x5C: result += "\\\(scalar)"
      case 0x20...0x7E: result.unicodeScalars.append(scalar)
      case 0xA0...0x200A, 0x2010...0x2027, 0x2070...0xFEFE: result.unicodeScalars.append(scalar)
      default: result += "\\u{\(String(scalar.value, radix: 16))}"
      }
    }
    return result.contains(where: { $0 == " " || $0 == "\"" }) || result.isEmpty ? "\"\(result)\"" : result
  }
}
