import BrokerProtocol
import JOSE
import JSON
import Sealing
import SecretMemory
import TextCoding

/// Makes and reads access tokens: compact JSON Web Tokens (RFC 7519) signed with Ed25519 (RFC 8037).
struct AccessTokenSigner: Sendable {
  /// The public key, which verifies the tokens.
  var publicKey: Ed25519PublicKey { key.publicKey }

  /// The same as others read it.
  var publicJSONWebKey: JSONWebKey {
    JSONWebKey(keyID: keyID, publicKey: String(decoding: Base64.encode(publicKey.bytes.span, as: .url), as: UTF8.self))
  }

  /// The key's name in a token's header: a hash of the public key.
  let keyID: String

  private let key: Ed25519SigningKey
  private let header: [UInt8]

  /// Signs with a key.
  init(key: Ed25519SigningKey) {
    self.key = key
    let keyHash = KeyedHash.unkeyedDigest(of: key.publicKey.bytes.span, count: 16)
    keyID = String(decoding: Base64.encode(keyHash.span, as: .url), as: UTF8.self)
    header = CompactJWS.header(.edDSA, keyID: keyID)
  }

  /// Makes a token.
  ///
  /// - Throws: `SecretMemoryExhausted`.
  func sign(_ claims: AccessTokenClaims) throws(SecretMemoryExhausted) -> Secret {
    var writer = JSONWriter()
    claims.encode(to: &writer)
    do {
      return try CompactJWS.signed(
        writer.bytes.span, header: header, signatureByteCount: Ed25519SigningKey.signatureByteCount, key.sign)
    } catch { throw SecretMemoryExhausted() }
  }

  /// The claims of a token of this signer, its expiry not examined; nil for anything else.
  func claims(of token: Secret) -> AccessTokenClaims? {
    guard CompactJWS.isSigned(token, header: header, { key.publicKey.isValid(signature: $0, for: $1) }) else {
      return nil
    }
    return CompactJWS.read(.payload, of: token) { JWTClaims($0).flatMap(AccessTokenClaims.init) }
  }

  /// The name of the key that a token says it was signed with, which nothing has verified yet.
  static func keyID(of token: Secret) -> String? {
    CompactJWS.read(.header, of: token) { try? $0["kid"]?.string() }
  }
}
