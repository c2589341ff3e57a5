import Sealing
package import SecretMemory
import TextCoding

/// Names tokens: the same name for the same token, from which neither the token nor its name in another state directory
/// can be found.
///
/// BLAKE2b with a key of the state directory (RFC 7693), cut to 96 bits: enough that two tokens never share a name, too
/// few and too keyed to test guesses against.
package struct TokenFingerprint: Sendable {
  /// How many bytes the key has.
  package static let keyByteCount = 32

  private static let digestByteCount = 12
  private let hash: KeyedHash

  /// - Parameter key: of ``keyByteCount`` bytes; nil for another length.
  package init?(key: Secret) {
    guard key.byteCount == Self.keyByteCount, let hash = try? KeyedHash(key: key) else { return nil }
    self.hash = hash
  }

  /// The name of a token: 16 characters of base64url.
  package func name(of token: Secret) -> String {
    token.withBytes { token in
      let digest = hash.digest(of: token, count: Self.digestByteCount)
      return String(decoding: Base64.encode(digest.span, as: .url), as: UTF8.self)
    }
  }
}
