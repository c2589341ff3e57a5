/// Common slips in JSON5, each with its correction.
extension JSON5Converter {
  /// The failure of a character that begins no token.
  func unexpectedCharacter(at place: Int) -> JSON5Error {
    if let slip = typographicSlip(at: place) {
      return JSON5Error("unexpected \(slip.character) (\(slip.name))", "use \(slip.instead)", at: place)
    }
    guard let scalar = scalar(at: place), scalar.value > 0x20 else {
      return JSON5Error("unexpected control character", at: place)
    }
    let suggestion: String? =
      switch scalar {
      case "#": "begin a comment with //"
      case "=": "write a colon between key and value"
      case ";": "write a comma between members"
      case "`": "use \""
      case "<": "the file must be JSON5"
      default: nil
      }
    return JSON5Error("unexpected character \(scalar)", suggestion, at: place)
  }

  /// A character of a word processor in place of one of the keyboard; nil for any other.
  func typographicSlip(at place: Int) -> (character: Unicode.Scalar, name: String, instead: String)? {
    guard let scalar = scalar(at: place) else { return nil }
    switch scalar.value {
    case 0x201C, 0x201D, 0x201E, 0xAB, 0xBB: return (scalar, "curly quote", "\"")
    case 0x2018, 0x2019, 0x201A: return (scalar, "curly quote", "'")
    case 0x2013, 0x2014, 0x2212: return (scalar, "dash", "-")
    default: return nil
    }
  }

  /// The failure of a word that stands where a value must stand.
  func unquoted(_ word: String, at place: Int) -> JSON5Error {
    let suggestion =
      switch word.lowercased() {
      case "true", "yes", "on": "write true"
      case "false", "no", "off": "write false"
      case "none", "nil", "undefined": "leave the key out"
      // The word may be a secret.
      default: "put it in quotes"
      }
    return JSON5Error("expected a quoted string", suggestion, at: place)
  }

  private func scalar(at place: Int) -> Unicode.Scalar? {
    String(decoding: source[place..<min(place + 4, source.count)], as: UTF8.self).unicodeScalars.first
  }
}
