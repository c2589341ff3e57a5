/// A format that people take a configuration file for, since other programs use it.
enum ForeignFormat {
  /// `key: value` on lines of their own.
  case yaml
  /// `[section]` and `key = value`.
  case ini
  /// UTF-16, as some editors save it.
  case utf16
  /// JSON5 without its outer braces.
  case bareMembers

  /// The format of a file that is no JSON5, by its first line that is no comment; nil where it looks like none of these.
  init?(_ bytes: [UInt8]) {
    if bytes.starts(with: [0xFF, 0xFE]) || bytes.starts(with: [0xFE, 0xFF]) {
      self = .utf16
      return
    }
    let line = bytes.prefix(4096).split { $0 == 0x0A || $0 == 0x0D }.lazy
      .map { Self.trimmed(String(decoding: $0, as: UTF8.self)) }
      .first { !$0.isEmpty && !$0.hasPrefix("#") && !$0.hasPrefix(";") && !$0.hasPrefix("//") }
    guard let line else { return nil }
    if line.hasPrefix("---") || line.hasPrefix("- ") {
      self = .yaml
    } else if line.hasPrefix("["), line.hasSuffix("]"), line.dropFirst().dropLast().allSatisfy(Self.isNameCharacter) {
      self = .ini
    } else {
      self.init(member: line)
    }
  }

  /// The format of a line that begins with a key.
  private init?(member line: Substring) {
    let quote = line.first.flatMap { $0 == "\"" || $0 == "'" ? $0 : nil }
    let key = line.drop { $0 == quote }.prefix(while: Self.isNameCharacter)
    guard !key.isEmpty else { return nil }
    let rest = line.drop { $0 == quote }.dropFirst(key.count).drop { $0 == quote || $0 == " " }
    let value = Self.trimmed(rest.dropFirst())
    switch rest.first {
    case "=": self = .ini
    case ":" where quote != nil || value.hasPrefix("{") || value.hasSuffix(","): self = .bareMembers
    case ":": self = .yaml
    default: return nil
    }
  }

  /// The error for a file in this format, at its beginning.
  var error: JSON5Error {
    let example = #"{ profiles: { default: { provider: "local" } } }"#
    return switch self {
    case .yaml: JSON5Error("the file looks like YAML; it must be JSON5", "write \(example)", at: 0)
    case .ini: JSON5Error("the file looks like TOML or INI; it must be JSON5", "write \(example)", at: 0)
    case .utf16: JSON5Error("the file is UTF-16", "save it as UTF-8", at: 0)
    case .bareMembers: JSON5Error("expected { at the beginning", "put { and } around the whole", at: 0)
    }
  }

  private static func isNameCharacter(_ character: Character) -> Bool {
    character.isASCII && (character.isLetter || character.isNumber || "_-.$".contains(character))
  }

  private static func trimmed(_ text: some StringProtocol) -> Substring {
    var text = Substring(text)
    while text.last == " " || text.last == "\t" { text.removeLast() }
    return text.drop { $0 == " " || $0 == "\t" || $0 == "\u{FEFF}" }
  }
}
