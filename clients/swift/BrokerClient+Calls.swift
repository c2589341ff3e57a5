#if !hasFeature(Embedded)
public import BrokerProtocol
public import SecretMemory

/// The calls that most programs need, by name.
extension BrokerClient {
  /// A valid access token, refreshed first where necessary.
  ///
  /// Ask each time one is needed, and keep none: the broker answers from memory.
  ///
  /// - Parameters:
  ///   - profile: nil: the current one (`authbroker profile use`), the only configured one, else `default`.
  ///   - minValidity: its least remaining lifetime; nil: the profile's own rule.
  ///   - scopes: those that it must have; nil: those of the session.
  ///   - audience: its audience, by the provider's own name; nil: that of the session's own token.
  ///   - forceRefresh: whether to refresh although the present token is still valid.
  /// - Returns: the token and when it expires.
  /// - Throws: `broker` with `loginRequired` or `sessionExpired` where the user must log in; `insufficientScope` or
  ///   `unsupportedByProvider` where the provider gives the session no such token.
  public func accessToken(
    profile: ProfileName? = nil, minValidity: Duration? = nil, scopes: [String]? = nil, audience: String? = nil,
    forceRefresh: Bool = false
  ) async throws -> AccessToken {
    try await call(
      GetAccessToken.self,
      .init(
        profile: try .meant(profile), minValidity: minValidity, scopes: scopes, audience: audience,
        forceRefresh: forceRefresh))
  }

  /// Reports that a server rejected a token (HTTP status 401, or 403), and returns the one to use instead.
  ///
  /// - Parameters:
  ///   - token: the rejected one.
  ///   - status: 401 or 403.
  ///   - challenge: the field `WWW-Authenticate` of the response, several joined by commas. Where it wants more scopes, the
  ///     token has them; where that takes a login, the error is `reauthRequired`.
  ///   - scopes: those that it was requested with; nil: those that the broker has recorded.
  ///   - audience: the one that it was requested for; nil: the one that the broker has recorded.
  /// - Returns: a token for the same.
  /// - Throws: as ``accessToken(profile:minValidity:scopes:audience:forceRefresh:)``.
  public func reportRejected(
    _ token: AccessToken, status: Int = 401, challenge: String? = nil, scopes: [String]? = nil, audience: String? = nil
  ) async throws -> AccessToken {
    var next = try await call(
      ReportRejected.self,
      .init(
        profile: token.profile, tokenID: token.tokenID, status: status, scopes: scopes,
        audience: audience, challenge: challenge))
    next.target = token.target
    return next
  }

  /// The session's ID token, for servers that ask who the user is; refreshed first where it has expired.
  ///
  /// - Parameter profile: nil: the current one (`authbroker profile use`), the only configured one, else `default`.
  /// - Returns: the token and when it expires.
  /// - Throws: `broker` with `accessDenied` where the profile's `allowIdToken` is not set, with `unsupportedByProvider`
  ///   where the session has no ID token, with `reauthRequired` where it has expired and a refresh brings no other.
  public func idToken(profile: ProfileName? = nil) async throws -> IdentityToken {
    try await call(GetIDToken.self, .init(profile: try .meant(profile)))
  }

  /// Logs in with e-mail address and password; the result may be a challenge.
  ///
  /// `clientContext` comes back in the result, the challenge, and the login's events; no secret belongs there.
  public func login(
    email: String, password: Secret, profile: ProfileName? = nil, clientContext: String? = nil
  ) async throws -> LoginResult {
    try await call(
      Login.self, .init(profile: try .meant(profile), email: email, password: password, clientContext: clientContext))
  }

  /// The ways to log in to a profile, and the parameters that each needs; the first is taken where a login names none.
  public func loginForms(profile: ProfileName? = nil) async throws -> [LoginForm] {
    try await call(GetSession.self, .init(profile: try .meant(profile))).login
  }

  /// Answers a challenge with its one-time code.
  public func verifyOTP(_ challenge: OTPChallenge, code: Secret) async throws -> LoginResult {
    try await call(VerifyOTP.self, .init(otpFlowID: challenge.otpFlowID, code: code))
  }

  /// Asks for another code, not before the challenge's `nextResendAt`.
  public func resendOTP(_ challenge: OTPChallenge) async throws -> OTPChallenge {
    try await call(ResendOTP.self, .init(otpFlowID: challenge.otpFlowID))
  }

  /// Makes an account at the provider and logs in.
  public func register(
    email: String, password: Secret, name: String? = nil, phoneNumber: String? = nil, profile: ProfileName? = nil
  ) async throws -> LoginResult {
    try await call(
      Register.self,
      .init(profile: try .meant(profile), email: email, password: password, name: name, phoneNumber: phoneNumber))
  }

  /// Ends the session of a profile, or of all.
  ///
  /// - Parameters:
  ///   - profile: nil: the current one (`authbroker profile use`), the only configured one, else `default`.
  ///   - everywhere: whether the account's other sessions at the provider end too.
  ///   - all: whether the sessions of every profile end.
  /// - Returns: for each profile, whether its provider has revoked the session.
  /// - Throws: as ``call(_:_:)``.
  public func logout(
    profile: ProfileName? = nil, everywhere: Bool = false, all: Bool = false
  ) async throws -> [LogoutOutcome] {
    try await call(Logout.self, .init(profile: all ? profile : try .meant(profile), everywhere: everywhere, all: all))
      .results
  }

  /// The state of a profile's session.
  public func session(profile: ProfileName? = nil) async throws -> Session {
    try await call(GetSession.self, .init(profile: try .meant(profile))).session
  }

  /// Lists the sessions of all profiles.
  public func sessions() async throws -> [Session] {
    try await call(ListSessions.self, .init()).sessions
  }

  /// Asks for the user of a session.
  public func currentUser(profile: ProfileName? = nil) async throws -> User {
    try await call(GetCurrentUser.self, .init(profile: try .meant(profile)))
  }

  /// Lets the broker forget its keys and every token, for all clients, until ``unlock(passphrase:)``.
  public func lock() async throws {
    _ = try await call(Lock.self, .init())
  }

  /// Opens the vault; the first passphrase of a new vault becomes its own.
  ///
  /// - Parameter passphrase: nil where the key comes from another source (``status()`` names it).
  /// - Throws: `broker` with `wrongPassphrase`, `keySourceUnavailable` or `vaultTampered`.
  public func unlock(passphrase: Secret? = nil) async throws {
    _ = try await call(Unlock.self, .init(passphrase: passphrase))
  }

  /// Re-encrypts the vault under new keys: all of it, or nothing.
  ///
  /// - Parameters:
  ///   - keySource: where the key shall come from; nil: what the configuration says.
  ///   - passphrase: the present one, where there is one.
  ///   - newPassphrase: the one from now on; nil keeps the present one.
  /// - Throws: `broker` with `vaultLocked`, `wrongPassphrase` or `keySourceUnavailable`; everything opens as before then.
  public func rekey(
    to keySource: KeySourceName? = nil, passphrase: Secret? = nil, newPassphrase: Secret? = nil
  ) async throws {
    _ = try await call(
      Rekey.self, .init(keySource: keySource, passphrase: passphrase, newPassphrase: newPassphrase))
  }

  /// Verifies the integrity of the vault.
  ///
  /// - Parameter full: whether every page and every encrypted value is verified too, which takes as long as reading it all.
  /// - Returns: whether nothing is wrong, and what a person should know.
  /// - Throws: `broker` with `vaultLocked` while there is no key.
  public func checkVault(full: Bool = false) async throws -> CheckVault.Result {
    try await call(CheckVault.self, .init(isFull: full))
  }

  /// Checks whether providers can be reached, with one harmless request to each; no vault and no session is needed.
  ///
  /// - Parameter profile: the profile to look at; nil means every configured one.
  /// - Returns: how each provider is; one that cannot be reached is no error.
  /// - Throws: `broker` with `unknownProfile`, or with `overloaded` while too many look.
  public func checkProviders(profile: ProfileName? = nil) async throws -> CheckProviders.Result {
    try await call(CheckProviders.self, .init(profile: profile))
  }

  /// Asks for the status of the broker.
  public func status() async throws -> GetStatus.Result {
    try await call(GetStatus.self, .init())
  }
}
#endif
