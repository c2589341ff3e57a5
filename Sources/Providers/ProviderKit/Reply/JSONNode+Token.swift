import BrokerProtocol
package import JSON
package import SecretMemory

/// Readings of a value in the place of a token or its type.
extension JSONNode {
  /// Whether the value stands for none: `null`, `false`, 0, an empty string or an empty object.
  package var saysNone: Bool {
    switch kind {
    case .null, .false: true
    case .integer: (try? integer()) == 0
    case .string, .escapedString: (try? string())?.isEmpty == true
    case .object: text.dropFirst().allSatisfy { $0 <= 0x20 || $0 == UInt8(ascii: "}") }
    default: false
    }
  }

  /// A refresh token: a string, or a positive whole number, whose digits it is.
  ///
  /// - Returns: nil for anything else.
  /// - Throws: `SecretMemoryExhausted`.
  package func foundRefreshToken() throws(SecretMemoryExhausted) -> Secret? {
    guard kind == .integer else { return try foundSecret() }
    var digits = Array(text)
    defer { wipe(&digits) }
    guard digits.allSatisfy({ (0x30...0x39).contains($0) }) else { return nil }
    return try Secret(wiping: &digits)
  }

  /// Whether the value names a token type that does not fit the header field: it is not empty, and not `Bearer` in any
  /// case of its letters (RFC 6749, section 7.1).
  package var isOtherThanBearer: Bool {
    switch kind {
    case .null, .false, .integer: return false
    case .string, .escapedString:
      guard let type = try? string() else { return true }
      let word = String(decoding: Array(type.lowercased().utf8).filter { $0 > 0x20 }, as: UTF8.self)
      return !(word.isEmpty && !type.utf8.contains(0)) && word != "bearer"
    default: return true
    }
  }
}
