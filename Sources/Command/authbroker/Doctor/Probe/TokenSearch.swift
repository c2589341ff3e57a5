import SecretMemory
import TextCoding

/// Looks for one token in what a tool has sent: as a word of its own, or inside Base64, as in basic authentication and in
/// SASL.
struct TokenSearch: Sendable {
  /// The token.
  let token: Secret

  /// Whether some bytes hold the token; words of its length are compared in constant time.
  func finds(in bytes: ArraySlice<UInt8>) -> Bool {
    Self.words(of: bytes).contains { word in
      if isToken(word) { return true }
      // Four characters are three bytes: what is shorter than the token cannot hold it.
      guard word.count / 4 * 3 + 3 > token.byteCount, var inner = Base64.decodeAnyForm(word.span) else { return false }
      defer { wipe(&inner) }
      return Self.words(of: inner[...]).contains(where: isToken)
    }
  }

  private func isToken(_ word: ArraySlice<UInt8>) -> Bool {
    guard word.count == token.byteCount else { return false }
    var copy = Array(word)
    return (try? Secret(wiping: &copy)) == token
  }

  /// Runs of the characters that a token may have, without the padding at its end (RFC 6750, section 2.1).
  private static func words(of bytes: ArraySlice<UInt8>) -> [ArraySlice<UInt8>] {
    bytes.split { byte in
      switch byte {
      case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
        UInt8(ascii: "0")...UInt8(ascii: "9"):
        false
      default: !"-._~+/".utf8.contains(byte)
      }
    }
  }
}
