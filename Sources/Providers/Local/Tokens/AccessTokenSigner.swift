import BrokerProtocol
import JSON
import Sealing
import SecretMemory
import TextCoding

/// Makes and reads access tokens: compact JSON Web Tokens (RFC 7519) signed with Ed25519 (RFC 8037).
struct AccessTokenSigner: Sendable {
  /// What others verify tokens with.
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
    let keyID = String(decoding: Base64.encode(keyHash.span, as: .url), as: UTF8.self)
    self.keyID = keyID
    var writer = JSONWriter()
    writer.object { writer in
      writer.member("alg", "EdDSA")
      writer.member("kid", keyID)
      writer.member("typ", "JWT")
    }
    header = Base64.encode(writer.bytes.span, as: .url)
  }

  /// Makes a token.
  ///
  /// - Throws: `SecretMemoryExhausted`.
  func sign(_ claims: AccessTokenClaims) throws(SecretMemoryExhausted) -> Secret {
    var writer = JSONWriter()
    claims.encode(to: &writer)
    let payload = Base64.encode(writer.bytes.span, as: .url)
    var token: [UInt8] = []
    // 86 characters of signature: the buffer never moves, so that no copy stays behind.
    token.reserveCapacity(header.count + payload.count + 2 + 86)
    token += header
    token.append(UInt8(ascii: "."))
    token += payload
    var rawSignature = key.sign(token.span)
    defer { wipe(&rawSignature) }
    var signature = Base64.encode(rawSignature.span, as: .url)
    defer { wipe(&signature) }
    token.append(UInt8(ascii: "."))
    token += signature
    return try Secret(wiping: &token)
  }

  /// What a token of this signer says, its expiry not examined; nil for anything else.
  func claims(of token: Secret) -> AccessTokenClaims? {
    token.withBytes { bytes in
      let dots = bytes.indices.filter { bytes[$0] == UInt8(ascii: ".") }
      // The header is this signer's own, byte for byte: another algorithm is never used (RFC 8725, section 3.1).
      guard dots.count == 2, dots[0] == header.count, header.indices.allSatisfy({ bytes[$0] == header[$0] }),
        let signature = Base64.decodeURLForm(bytes.extracting((dots[1] + 1)...)),
        key.publicKey.isValid(signature: signature.span, for: bytes.extracting(..<dots[1])),
        let payload = Base64.decodeURLForm(bytes.extracting((dots[0] + 1)..<dots[1]))
      else { return nil }
      return AccessTokenClaims(payload: payload)
    }
  }

  /// The name of the key that a token says it was signed with, which nothing has verified yet.
  static func keyID(of token: Secret) -> String? {
    token.withBytes { bytes in
      guard let dot = bytes.indices.first(where: { bytes[$0] == UInt8(ascii: ".") }),
        let header = Base64.decodeURLForm(bytes.extracting(..<dot)),
        let root = try? JSONDocument(parsing: header).root
      else { return nil }
      return try? root["kid"]?.string()
    }
  }
}
