import BrokerCore
import BrokerProtocol
package import ConfigurationFile
import HTTP
import JOSE
import JSON
import ProviderKit
import Sealing
import SecretMemory
import Signing
import TextCoding

/// A private key that a client signs its assertions with (RFC 7523; OpenID Connect Core, section 9, `private_key_jwt`).
package struct ClientKey: Sendable, Equatable {
  /// The algorithms that a configuration can name.
  package enum Algorithm: String, Sendable, CaseIterable {
    /// ECDSA on the curve P-256.
    case es256 = "ES256"
    /// RSA with PKCS #1 1.5.
    case rs256 = "RS256"
  }

  /// The reference to the key, in PEM: the whole of what is there.
  package var source: SecretReference
  /// The provider's name for the public key; nil for a provider that needs none.
  package var keyID: String?
  /// The algorithm; nil for the only one that the key has.
  package var algorithm: Algorithm?
  /// The audience of assertions; nil for the issuer (draft-ietf-oauth-rfc7523bis).
  package var audience: String?

  /// The life of an assertion, which is used at once.
  private static let lifetimeSeconds = 60
  /// Random bytes of a `jti`, which no two assertions share.
  private static let identifierByteCount = 16

  /// A key.
  package init(_ source: SecretReference, keyID: String? = nil, algorithm: Algorithm? = nil, audience: String? = nil) {
    self.source = source
    self.keyID = keyID
    self.algorithm = algorithm
    self.audience = audience
  }

  /// The audience that stands for the address of the endpoint that is asked.
  static let endpoint = "endpoint"

  /// The payload of an assertion: its only audience is the issuer, so that no other server can use it.
  func payload(clientID: String, issuer: String, endpoint: String?, at now: Timestamp) -> [UInt8] {
    var writer = JSONWriter()
    let seconds = Int(now.milliseconds / 1000)
    let identifier = RandomBytes.array(count: Self.identifierByteCount)
    writer.object { writer in
      writer.member("iss", clientID)
      writer.member("sub", clientID)
      writer.member("aud", (audience == Self.endpoint ? endpoint : audience) ?? issuer)
      writer.member("jti", String(decoding: Base64.encode(identifier.span, as: .url), as: UTF8.self))
      writer.member("iat", seconds)
      writer.member("exp", seconds + Self.lifetimeSeconds)
    }
    return writer.bytes
  }
}

extension ClientAuthenticator {
  /// The type of assertions (draft-ietf-oauth-rfc7523bis), by which none is taken for another kind of token.
  private static let type = "client-authentication+jwt"

  /// A new assertion, signed with the client's key as its source has it now.
  ///
  /// - Throws: `.credentialMissing`; what the source of the key throws.
  func signed(with key: ClientKey, for url: HTTPURL?) async throws(ProviderFailure) -> Secret {
    let pem = try await secrets(key.source).get()
    let signingKey: SigningKey
    do throws(KeyFault) { signingKey = try SigningKey(pem: pem) } catch { throw Self.failure(error, key) }
    if let algorithm = key.algorithm, algorithm.rawValue != signingKey.algorithm.rawValue {
      throw Self.missing(
        "it is one for \(signingKey.algorithm.rawValue), and privateKeyAlgorithm says \(algorithm.rawValue)", key)
    }
    let header = CompactJWS.header(signingKey.algorithm, type: Self.type, keyID: key.keyID)
    let endpoint = url.map { $0.origin + $0.target }
    let payload = key.payload(clientID: clientID, issuer: reader.issuer, endpoint: endpoint, at: reader.clock())
    do throws(KeyFault) { return try signingKey.token(payload.span, header: header) } catch {
      throw Self.failure(error, key)
    }
  }

  private static func failure(_ fault: KeyFault, _ key: ClientKey) -> ProviderFailure {
    switch fault {
    case .secretMemoryExhausted, .failed: .transient(.overloaded)
    default: missing(fault.description, key)
    }
  }

  private static func missing(_ reason: String, _ key: ClientKey) -> ProviderFailure {
    .credentialMissing(MissingCredential(key.source.name, reason))
  }
}
