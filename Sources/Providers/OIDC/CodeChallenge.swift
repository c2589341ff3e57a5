import Sealing
import SecretMemory
import TextCoding

/// The challenge of Proof Key for Code Exchange (RFC 7636), by SHA-256 only: `plain` protects nothing that TLS does
/// not.
enum CodeChallenge {
  /// The method's name (RFC 7636, section 4.3).
  static let method = "S256"

  /// Makes a verifier: 32 random bytes in base64url, as section 4.1 recommends.
  ///
  /// - Throws: `SealingError.secretMemoryExhausted`.
  static func makeVerifier() throws(SealingError) -> Secret {
    var random = RandomBytes.array(count: 32)
    var text = Base64.encode(random.span, as: .url)
    wipe(&random)
    do { return try Secret(wiping: &text) } catch { throw .secretMemoryExhausted }
  }

  /// The challenge of a verifier (section 4.2).
  static func of(_ verifier: Secret) -> String {
    verifier.withBytes { String(decoding: Base64.encode(SHA256.digest(of: $0).span, as: .url), as: UTF8.self) }
  }
}
