import BrokerProtocol
import JSON
import Sealing
import SecretMemory

/// Makes and reads access tokens: compact JSON Web Tokens (RFC 7519) signed with Ed25519 (RFC 8037).
struct AccessTokenSigner: Sendable {
  /// What an access token says.
  struct Claims: Equatable {
    /// The account.
    var subject: String
    /// The token family, as `sid` (OpenID Connect Front-Channel Logout 1.0, section 3).
    var family: String
    /// When it was made.
    var issuedAt: Timestamp
    /// When it ends.
    var expiresAt: Timestamp
    /// What it is good for, joined by spaces; empty for the usual.
    var scopes: String
  }

  /// The issuer that every token names.
  static let issuer = "authbroker-local"

  /// What others verify tokens with.
  var publicKey: Ed25519PublicKey { key.publicKey }

  /// The key's name in a token's header: a hash of the public key.
  let keyID: String

  private let key: Ed25519SigningKey
  private let header: [UInt8]

  /// Signs with a key.
  init(key: Ed25519SigningKey) {
    self.key = key
    let keyHash = KeyedHash.unkeyedDigest(of: key.publicKey.bytes.span, count: 16)
    let keyID = String(decoding: Base64URL.encode(keyHash.span), as: UTF8.self)
    self.keyID = keyID
    var writer = JSONWriter()
    writer.object { writer in
      writer.member("alg", "EdDSA")
      writer.member("kid", keyID)
      writer.member("typ", "JWT")
    }
    header = Base64URL.encode(writer.bytes.span)
  }

  /// A token with an identifier (`jti`) of its own.
  ///
  /// `iat` and `exp` are whole seconds; the end is rounded up, so that no token ends before it was said to.
  ///
  /// - Throws: `SecretMemoryExhausted`.
  func sign(_ claims: Claims) throws(SecretMemoryExhausted) -> Secret {
    let identifier = String(decoding: Base64URL.encode(RandomBytes.array(count: 16).span), as: UTF8.self)
    var writer = JSONWriter()
    writer.object { writer in
      writer.member("iss", Self.issuer)
      writer.member("sub", claims.subject)
      writer.member("sid", claims.family)
      writer.member("iat", Int(claims.issuedAt.milliseconds / 1000))
      writer.member("exp", Int((claims.expiresAt.milliseconds + 999) / 1000))
      writer.member("jti", identifier)
      if !claims.scopes.isEmpty { writer.member("scope", claims.scopes) }
    }
    let payload = Base64URL.encode(writer.bytes.span)
    var token: [UInt8] = []
    // 86 characters of signature: the buffer never moves, so that no copy stays behind.
    token.reserveCapacity(header.count + payload.count + 2 + 86)
    token += header
    token.append(UInt8(ascii: "."))
    token += payload
    var rawSignature = key.sign(token.span)
    defer { wipe(&rawSignature) }
    var signature = Base64URL.encode(rawSignature.span)
    defer { wipe(&signature) }
    token.append(UInt8(ascii: "."))
    token += signature
    return try Secret(wiping: &token)
  }

  /// What a token of this signer says, its end not examined; nil for anything else.
  func claims(of token: Secret) -> Claims? {
    token.withBytes { bytes in
      let dots = bytes.indices.filter { bytes[$0] == UInt8(ascii: ".") }
      // The header is this signer's own, byte for byte: another algorithm is not even read (RFC 8725, section 3.1).
      guard dots.count == 2, dots[0] == header.count, header.indices.allSatisfy({ bytes[$0] == header[$0] }),
        let signature = try? Base64URL.decode(bytes.extracting((dots[1] + 1)...)),
        key.publicKey.isValid(signature: signature.span, for: bytes.extracting(..<dots[1])),
        let payload = try? Base64URL.decode(bytes.extracting((dots[0] + 1)..<dots[1]))
      else { return nil }
      return Claims(payload)
    }
  }
}

extension AccessTokenSigner.Claims {
  fileprivate init?(_ payload: [UInt8]) {
    guard let root = try? JSONDocument(parsing: payload).root,
      let issuer = try? root.required("iss").string(), issuer == AccessTokenSigner.issuer,
      let subject = try? root.required("sub").string(), let family = try? root.required("sid").string(),
      let issued = try? root.required("iat").integer(), let expires = try? root.required("exp").integer()
    else { return nil }
    self.subject = subject
    self.family = family
    // Signed by this key, and multiplied without overflow all the same.
    issuedAt = Timestamp(milliseconds: issued.multipliedReportingOverflow(by: 1000).partialValue)
    expiresAt = Timestamp(milliseconds: expires.multipliedReportingOverflow(by: 1000).partialValue)
    scopes = (try? root["scope"]?.string()) ?? ""
  }
}
