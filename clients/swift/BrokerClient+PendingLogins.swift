#if !hasFeature(Embedded)
public import BrokerProtocol
public import SecretMemory

/// Logins whose user does something elsewhere, and those that wait for a code.
extension BrokerClient {
  /// Begins a login without a password; the result says what the user has to do where.
  ///
  /// - Parameters:
  ///   - method: nil: the first that the provider offers and that needs no credentials.
  ///   - profile: nil: the current one (`authbroker profile use`), the only configured one, else `default`.
  ///   - clientContext: comes back in the result, the action, and the login's events; no secret belongs there.
  /// - Returns: an action as a rule, for ``awaitLogin(_:timeout:)``.
  /// - Throws: `broker` with `unsupportedByProvider`, or `missingCredential` where the provider wants a password.
  public func login(
    by method: LoginMethod? = nil, profile: ProfileName? = nil, clientContext: String? = nil
  ) async throws -> LoginResult {
    try await call(
      Login.self, .init(profile: try .meant(profile), method: method?.rawValue, clientContext: clientContext))
  }

  /// Waits until the user has done what a login asked of them.
  ///
  /// - Parameters:
  ///   - action: what is asked of them.
  ///   - timeout: how long to wait; nil: until the login is over. The login continues after it.
  /// - Returns: the session.
  /// - Throws: `broker` with `deadlineExceeded`, `consentDenied`, `otpExpired`, `cancelled` or `flowNotFound`.
  public func awaitLogin(_ action: UserAction, timeout: Duration? = nil) async throws -> LoginResult {
    try await call(AwaitLogin.self, .init(loginFlowID: action.loginFlowID, timeout: timeout))
  }

  /// Cancels a login that waits for a one-time code or for a user action.
  public func cancelLogin(_ step: PendingLoginStep) async throws {
    switch step {
    case .code(let challenge): _ = try await call(CancelLogin.self, .init(otpFlowID: challenge.otpFlowID))
    case .action(let action): _ = try await call(CancelLogin.self, .init(loginFlowID: action.loginFlowID))
    }
  }

  /// The logins that wait for their code or their user: that of one profile, or those of all.
  ///
  /// - Parameter profile: nil: every configured one.
  /// - Returns: the steps that wait.
  /// - Throws: `broker` with `unknownProfile`.
  public func pendingLogins(profile: ProfileName? = nil) async throws -> [PendingLoginStep] {
    try await call(ListPendingLogins.self, .init(profile: profile)).logins
  }

  /// Authenticates the user of a session again; the session continues with new tokens.
  ///
  /// - Parameters:
  ///   - password: nil for a provider whose users authenticate elsewhere.
  ///   - profile: nil: the current one (`authbroker profile use`), the only configured one, else `default`.
  /// - Returns: the session, a challenge, or what the user has to do elsewhere.
  /// - Throws: `broker` with `loginRequired` where there is no session, `accessDenied` where another user has come.
  public func reauthenticate(
    password: Secret? = nil, profile: ProfileName? = nil
  ) async throws -> LoginResult {
    try await call(Reauthenticate.self, .init(profile: try .meant(profile), password: password))
  }
}
#endif
