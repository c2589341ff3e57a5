package import BrokerProtocol
package import SecretMemory

/// A token, and the way in which it is presented to a server.
package struct BoundToken: Sendable, Equatable {
  /// The way in which a token is presented to a server (RFC 6749, section 7.1).
  package enum Kind: Sendable {
    /// By itself: it is good for everyone who has it (RFC 6750).
    case bearer
    /// Not at all: it is only the subject of another request (RFC 8693, section 2.2.1, `N_A`).
    case subject
    /// With a proof that its key has signed for the request (RFC 9449, section 7.1).
    case proven

    /// The type of the token, as clients are told it; there is none for what no server takes.
    var name: String { self == .proven ? "DPoP" : "Bearer" }
  }

  /// The token.
  package let value: Secret
  /// The way in which it is presented.
  package let kind: Kind
  /// The client that it was issued to; nil for the client of the configuration.
  package let client: TokenClient?
  /// The key of its session; nil for a session without one.
  package let key: ProofKey?

  /// A token of a kind.
  package init(_ value: Secret, _ kind: Kind = .bearer, client: TokenClient? = nil, key: ProofKey? = nil) {
    self.value = value
    self.kind = kind
    self.client = client
    self.key = key
  }

  /// The same token outside of the arena: see `Secret.resting()`.
  package func resting() -> BoundToken { BoundToken(value.resting(), kind, client: client, key: key?.resting()) }

  /// The same token, of a client that was found at the login.
  package func issued(to client: TokenClient) -> BoundToken { BoundToken(value, kind, client: client, key: key) }

  /// The same token, of a session without a key.
  package func unbound() -> BoundToken { BoundToken(value, kind == .subject ? .subject : .bearer, client: client) }

  /// The same token, of a session with a key; one that no server takes stays that.
  package func bound(to key: ProofKey) -> BoundToken {
    BoundToken(value, kind == .subject ? .subject : .proven, client: client, key: key)
  }
}

/// The client of a session, and the servers that it is for, where the login has found them and the configuration does not
/// name them: the session's tokens go to no other issuer, whatever is found later.
package final class TokenClient: Sendable, Equatable {
  /// The issuer of the authorization server (RFC 8414, section 2).
  package let issuer: String
  /// The client's identifier there (RFC 6749, section 2.2).
  package let id: String
  /// The protected resource (RFC 8707, section 2).
  package let resource: String

  /// A client.
  package init(issuer: String, id: String, resource: String) {
    self.issuer = issuer
    self.id = id
    self.resource = resource
  }

  package static func == (left: TokenClient, right: TokenClient) -> Bool {
    left.issuer == right.issuer && left.id == right.id && left.resource == right.resource
  }
}

/// The tokens of one session as a provider gave them.
package struct TokenSet: Sendable, Equatable {
  /// The access token (RFC 6749, section 1.4).
  package var accessToken: BoundToken
  /// When the access token ends; nil where the provider gives no lifetime.
  package var accessTokenExpiresAt: Timestamp?
  /// The refresh token (RFC 6749, section 1.5); nil where the session cannot be refreshed.
  package var refreshToken: BoundToken?
  /// When the refresh token ends, where the provider says so.
  package var refreshTokenExpiresAt: Timestamp?
  /// The scopes of the access token.
  package var scopes: [String]
  /// The ID token (OpenID Connect Core, section 2), where the provider issues one.
  package var idToken: Secret?
  /// How far the provider's clock was ahead of this machine's when it gave the tokens; nil where it did not say the time.
  ///
  /// What is kept of it is in ``LivingSession/clock``.
  package var clockSkew: Duration?
  /// The subject of the tokens that a refresh has brought, where they name it: it must be the session's user (OpenID
  /// Connect Core, section 12.2).
  ///
  /// It is checked once, and never stored.
  package var subject: String?

  /// The tokens of an answer, which are shown as bearer tokens.
  package init(
    accessToken: Secret, accessTokenExpiresAt: Timestamp?, refreshToken: Secret?,
    refreshTokenExpiresAt: Timestamp? = nil, scopes: [String] = [], idToken: Secret? = nil,
    clockSkew: Duration? = nil
  ) {
    self.accessToken = BoundToken(accessToken)
    self.accessTokenExpiresAt = accessTokenExpiresAt
    self.refreshToken = refreshToken.map { BoundToken($0) }
    self.refreshTokenExpiresAt = refreshTokenExpiresAt
    self.scopes = scopes
    self.idToken = idToken
    self.clockSkew = clockSkew
  }

  /// The same tokens, of a client that was found at the login.
  package consuming func issued(to client: TokenClient) -> TokenSet {
    accessToken = accessToken.issued(to: client)
    refreshToken = refreshToken?.issued(to: client)
    return self
  }

  /// The same tokens, of a session with a key; nil changes nothing.
  package consuming func bound(to key: ProofKey?) -> TokenSet {
    guard let key else { return self }
    accessToken = accessToken.bound(to: key)
    refreshToken = refreshToken?.bound(to: key)
    return self
  }

  /// The same tokens outside of the arena: see `Secret.resting()`.
  package consuming func resting() -> TokenSet {
    accessToken = accessToken.resting()
    refreshToken = refreshToken?.resting()
    idToken = idToken?.resting()
    return self
  }
}
