package import BrokerCore
package import BrokerProtocol
import SQLite
import Sealing
import SecretMemory
import Synchronization
import TextCoding

/// Sessions and their tokens.
extension LocalProvider: UserInfoProvider, RevocationProvider, TargetProvider {
  /// Bits of a refresh token, in bytes: 256, beyond all guessing.
  private static let refreshTokenByteCount = 32

  /// Spends a refresh token for the next one and a new access token.
  ///
  /// A token that was spent before has been stolen, either then or now, so its whole family ends (RFC 9700,
  /// section 4.14.2).
  ///
  /// - Throws: `.sessionEnded` with `refreshRejected` for an unknown or revoked token, and with the alert
  ///   `refreshTokenReuse` for a spent one; with `refreshTokenExpired` where the family has expired, for want of use
  ///   or not. `.transient(.providerUnavailable)`: nothing was spent.
  package func refresh(_ refreshToken: BoundToken) throws(ProviderFailure) -> TokenSet {
    try spend(refreshToken.value, for: nil)
  }

  /// Whether a configured audience is named; where some are, whether another one is among them is for the answer to
  /// say.
  package nonisolated func canGive(_ target: TokenTarget) -> Bool {
    guard let audience = target.audience else { return false }
    return audiences.withLock { $0.count > 1 || $0.contains(audience) }
  }

  /// Spends a refresh token, as ``refresh(_:)`` does, for an access token for another service.
  ///
  /// - Throws: as ``refresh(_:)``; `.refused(.insufficientScope)` for an audience that is not configured, and for
  ///   scopes that the session has not: nothing was spent.
  package func accessToken(
    for target: TokenTarget, refreshToken: BoundToken
  ) throws(ProviderFailure) -> TokenSet {
    try spend(refreshToken.value, for: target)
  }

  private func spend(_ refreshToken: Secret, for target: TokenTarget?) throws(ProviderFailure) -> TokenSet {
    try respond(to: "refresh") { database, now in
      let token = database.fingerprint.of(refreshToken, .refreshToken)
      guard let match = try database.families.find(token: token), !match.family.isRevoked else {
        throw ProviderFailure.sessionEnded(.refreshRejected)
      }
      guard now < expiry(of: match.family) else { throw ProviderFailure.sessionEnded(.refreshTokenExpired) }
      guard !match.isSpent else {
        try database.connection.transaction {
          try database.families.revoke(family: match.family.id, at: now)
          try database.audit.append(
            .refreshReused, account: match.family.account, detail: match.family.id, at: now)
        }
        throw ProviderFailure.sessionEnded(.refreshRejected, alert: .refreshTokenReuse)
      }
      if let target, !isGranted(target, match.family) { throw ProviderFailure.refused(.insufficientScope) }
      return try database.connection.transaction {
        try database.families.spend(token: token, at: now)
        return try issueTokens(match.family, for: target, database, at: now)
      }
    }
  }

  /// Scopes can only be narrowed (RFC 6749, section 6).
  private func isGranted(_ target: TokenTarget, _ family: TokenFamily) -> Bool {
    let granted = ScopeList.split(family.scopes)
    return configuration.everyAudience.contains(target.audience ?? configuration.audience)
      && target.scopes.allSatisfy(granted.contains)
  }

  /// The end of a session is the end of that session only.
  package nonisolated var habit: RevocationHabit? { .token }

  /// Ends the session that tokens belong to, or with `everywhere` all of its user; both tokens may have ended.
  ///
  /// Tokens that belong to nothing are no error (RFC 7009, section 2.2).
  ///
  /// - Throws: `.transient(.providerUnavailable)`.
  package func revoke(_ tokens: TokenSet, everywhere: Bool) throws(ProviderFailure) {
    try respond(to: "revoke") { database, now in
      guard let family = try family(of: tokens, database) else { return }
      try database.connection.transaction {
        if everywhere {
          try endSessions(of: family.account, database, at: now)
        } else {
          try database.families.revoke(family: family.id, at: now)
        }
        try database.audit.append(
          .sessionsRevoked, account: family.account, detail: everywhere ? "all" : family.id, at: now)
      }
      if everywhere { removeMessages(of: family.account, .change, database) }
    }
  }

  /// Ends all sessions of an account, and the change of its address that one of them may have begun; part of a transaction.
  func endSessions(of account: String, _ database: LocalDatabase, at now: Timestamp) throws {
    try database.families.revokeAll(account: account, at: now)
    try database.mailTokens.remove(.change, of: account)
  }

  /// Tells whose an access token is.
  ///
  /// - Throws: `.tokenRefused` for a token that is not this provider's, has ended, or whose session was
  ///   revoked: another access token is needed, whatever the reason. `.transient(.providerUnavailable)`.
  package func currentUser(accessToken: BoundToken) throws(ProviderFailure) -> User {
    try respond(to: "currentUser") { database, now in
      try session(of: accessToken.value, database, at: now).account.user
    }
  }

  /// The session that an access token belongs to, if the provider itself is given it.
  ///
  /// - Throws: as ``session(of:for:_:at:)``.
  func session(
    of accessToken: Secret, _ database: LocalDatabase, at now: Timestamp
  ) throws -> (account: Account, family: TokenFamily) {
    // A token for another service gives no access to the account (RFC 9068, section 4).
    try session(of: accessToken, for: configuration.audience, database, at: now)
  }

  /// The session that an access token belongs to; nil stands for any audience.
  ///
  /// - Throws: `ProviderFailure.tokenRefused` for a token that is not this provider's, or for another audience, has
  ///   ended, whose session was revoked, or whose account is disabled; what the database says.
  func session(
    of accessToken: Secret, for audience: String?, _ database: LocalDatabase, at now: Timestamp
  ) throws -> (account: Account, family: TokenFamily) {
    guard let claims = try database.signingKeys.claims(of: accessToken), now < claims.expiresAt,
      audience == nil || claims.audience == audience,
      let family = try database.families.find(id: claims.family), !family.isRevoked,
      family.account == claims.subject, let account = try database.accounts.find(id: claims.subject),
      account.disabledAt == nil
    else { throw ProviderFailure.tokenRefused }
    return (account, family)
  }

  /// When a family expires unless it is used before.
  func expiry(of family: TokenFamily) -> Timestamp {
    family.expiry(idleLifetime: configuration.refreshTokenIdleLifetime)
  }

  /// Begins a session; part of the transaction that its proof belongs to.
  ///
  /// - Throws: what the database and the memory say.
  func beginSession(
    _ account: Account, scopes: String, methods: AuthenticationMethods = .password, _ database: LocalDatabase,
    at now: Timestamp
  ) throws -> ProviderSession {
    let family = TokenFamily(
      id: Self.identifier(), account: account.id, scopes: scopes, authTime: now, methods: methods, createdAt: now,
      lastUsedAt: now, expiresAt: now + configuration.refreshTokenLifetime)
    try database.families.insert(family)
    try database.throttle.clear(database.throttleKey(account.email))
    try database.audit.append(.loginSucceeded, account: account.id, detail: methods.text, at: now)
    return ProviderSession(tokens: try issueTokens(family, database, at: now), user: account.user)
  }

  /// The next pair of tokens of a family, which is used by that: for its own audience and scopes, or as a target says.
  ///
  /// The access token never outlives the refresh token.
  private func issueTokens(
    _ family: TokenFamily, for target: TokenTarget? = nil, _ database: LocalDatabase, at now: Timestamp
  ) throws -> TokenSet {
    var family = family
    family.lastUsedAt = now
    let refreshToken = try Self.randomToken()
    try database.families.add(
      token: database.fingerprint.of(refreshToken, .refreshToken), to: family.id, at: now)
    let refreshTokenExpiry = expiry(of: family)
    let scopes = target.flatMap { ScopeList.joined($0.scopes) } ?? ""
    if !scopes.isEmpty { family.scopes = scopes }
    let claims = AccessTokenClaims(
      issuer: configuration.issuer, audience: target?.audience ?? configuration.audience, subject: family.account,
      family: family.id, issuedAt: now,
      expiresAt: min(now + configuration.accessTokenLifetime, refreshTokenExpiry), authTime: family.authTime,
      methods: family.methods, scopes: family.scopes)
    return TokenSet(
      accessToken: try database.signingKeys.current().sign(claims), accessTokenExpiresAt: claims.expiresAt,
      refreshToken: refreshToken, refreshTokenExpiresAt: refreshTokenExpiry, scopes: ScopeList.split(family.scopes))
  }

  private func family(of tokens: TokenSet, _ database: LocalDatabase) throws -> TokenFamily? {
    if let refreshToken = tokens.refreshToken?.value,
      let match = try database.families.find(token: database.fingerprint.of(refreshToken, .refreshToken))
    {
      return match.family
    }
    guard let claims = try database.signingKeys.claims(of: tokens.accessToken.value) else { return nil }
    return try database.families.find(id: claims.family)
  }

  /// 256 random bits in base64url, drawn in locked memory.
  static func randomToken() throws -> Secret {
    let random = try RandomBytes.secret(count: refreshTokenByteCount)
    var text = random.withBytes { Base64.encode($0, as: .url) }
    return try Secret(wiping: &text)
  }
}
