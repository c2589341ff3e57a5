package import BrokerCore
package import BrokerProtocol
import SQLite
package import SecretMemory

/// Introspection of tokens (RFC 7662), and the keys that verify them.
extension LocalProvider {
  /// Tells whether an access token or a refresh token is good now, and whose it is.
  ///
  /// - Throws: `.transient(.providerUnavailable)`.
  package func introspect(_ token: Secret) throws(ProviderFailure) -> TokenIntrospection {
    try perform { database, now in
      if let claims = try database.signingKeys.claims(of: token) {
        return try isGood(token, database, at: now) ? TokenIntrospection(claims) : TokenIntrospection(isActive: false)
      }
      guard let match = try database.families.find(token: database.fingerprint.of(token, .refreshToken)),
        !match.isSpent, !match.family.isRevoked, now < expiry(of: match.family)
      else { return TokenIntrospection(isActive: false) }
      return TokenIntrospection(match.family, configuration.issuer, expiry: expiry(of: match.family))
    }
  }

  private func isGood(_ accessToken: Secret, _ database: LocalDatabase, at now: Timestamp) throws -> Bool {
    do {
      _ = try session(of: accessToken, for: nil, database, at: now)
      return true
    } catch ProviderFailure.tokenRefused { return false }
  }

  /// The keys that verify access tokens: the signing key first, then those whose tokens may not all have expired.
  ///
  /// - Throws: `.transient(.providerUnavailable)`.
  package func keySet() throws(ProviderFailure) -> [JSONWebKey] {
    try perform { database, now in try database.signingKeys.keySet(at: now) }
  }

  /// Makes a new signing key; the tokens of the one before stay valid until they expire.
  ///
  /// - Returns: the keys as they are then.
  /// - Throws: `.transient(.providerUnavailable)`.
  package func rotateSigningKey() throws(ProviderFailure) -> [JSONWebKey] {
    try perform { database, now in
      try database.connection.transaction {
        try database.signingKeys.rotate(at: now)
        try database.audit.append(.keyRotated, account: nil, at: now)
      }
      return try database.signingKeys.keySet(at: now)
    }
  }
}

extension TokenIntrospection {
  /// The introspection of a valid access token.
  fileprivate init(_ claims: AccessTokenClaims) {
    self.init(isActive: true)
    issuer = claims.issuer
    audience = claims.audience
    subject = claims.subject
    session = claims.family
    tokenID = claims.identifier
    issuedAt = claims.issuedAt.seconds
    expiresAt = claims.expiresAt.seconds
    add(claims.scopes, claims.authTime, claims.methods)
  }

  /// The introspection of a valid refresh token, by its family.
  fileprivate init(_ family: TokenFamily, _ issuer: String, expiry: Timestamp) {
    self.init(isActive: true)
    self.issuer = issuer
    subject = family.account
    session = family.id
    issuedAt = family.lastUsedAt.seconds
    expiresAt = expiry.seconds
    add(family.scopes, family.authTime, family.methods)
  }

  private mutating func add(_ scopes: String, _ authTime: Timestamp?, _ methods: AuthenticationMethods) {
    scope = scopes.isEmpty ? nil : scopes
    self.authTime = authTime?.seconds
    self.methods = methods.names.isEmpty ? nil : methods.names
  }
}

extension Timestamp {
  /// Whole seconds since 1970, as a NumericDate (RFC 7519, section 2).
  fileprivate var seconds: Int { Int(milliseconds / 1000) }
}
