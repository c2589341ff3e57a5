import JSON

/// Values in the words of mistakes.
extension JSONNode {
  /// Longer values are shown by their kind alone.
  private static let longestQuote = 32

  /// The kind of value, with its article.
  var kindInWords: String {
    switch kind {
    case .object: "an object"
    case .array: "a list"
    case .string, .escapedString: "a string"
    case .integer, .number: "a number"
    case .true, .false, .null: String(decoding: text, as: UTF8.self)
    }
  }

  /// The value itself where it is short and plain, otherwise its kind.
  ///
  /// It is quoted as it stands in the file, before a variable is put in.
  var valueInWords: String {
    switch kind {
    case .string, .integer, .number:
      text.count <= Self.longestQuote && text.allSatisfy { (0x20...0x7E).contains($0) }
        ? String(decoding: text, as: UTF8.self) : kindInWords
    default: kindInWords
    }
  }

  /// The list that a string was meant to be; nil for what is no string.
  var listSuggestion: String? {
    guard let words = (try? string())?.split(whereSeparator: { $0 == " " || $0 == "," }), !words.isEmpty,
      words.joined().utf8.allSatisfy({ (0x21...0x7E).contains($0) && $0 != UInt8(ascii: "\"") })
    else { return nil }
    return "write [\(words.map { "\"\($0)\"" }.joined(separator: ", "))]"
  }

  /// The string that a number, a switch or a list of one string was meant to be; nil for anything else.
  var quotedSuggestion: String? {
    switch kind {
    case .integer, .number, .true, .false: "write \"\(String(decoding: text, as: UTF8.self))\""
    case .array:
      (try? elements()).flatMap { $0.count == 1 && $0[0].kind == .string ? "write \($0[0].valueInWords)" : nil }
    default: nil
    }
  }
}
