package import BrokerProtocol
package import SecretMemory

/// One login that waits for its code, or for its user, as it rests in the store.
package struct PendingLogin: Sendable, Equatable {
  /// The challenge or action that it waits for, as clients see it.
  package var step: PendingLoginStep
  /// The provider's own handle.
  package var flow: Secret
  /// The login method.
  package var method: LoginMethod
  /// How many wrong codes were tried, as the broker itself has counted.
  package var wrongCodes: Int
  /// The user that it must bring; nil for any.
  package var expectedUser: ExpectedUser?
  /// The account, as the client has named it; nil where it has not.
  ///
  /// It is kept in memory only, never in the store.
  package var account: String?
  /// Whether its user has been reminded of it.
  package var isReminded = false
  /// Whether it may replace another user's living session: it was begun with access to the state directory.
  package var mayReplace = false
  /// The connection that began it; nil where no single one has.
  ///
  /// Kept in memory only, as the connection is.
  package var client: ClientID?

  package init(
    step: PendingLoginStep, flow: Secret, method: LoginMethod = .password, wrongCodes: Int = 0,
    expectedUser: ExpectedUser? = nil
  ) {
    self.step = step
    self.flow = flow
    self.method = method
    self.wrongCodes = wrongCodes
    self.expectedUser = expectedUser
  }

  /// A login that waits for its code.
  package init(challenge: OTPChallenge, flow: Secret) { self.init(step: .code(challenge), flow: flow) }

  /// The broker's handle.
  package var id: String { step.id }

  /// The profile that logs in.
  package var profile: ProfileName { step.profile }

  /// When it ends if no client continues it.
  package var expiresAt: Timestamp { step.expiresAt }
}

/// Provider calls for a pending login.
extension PendingLogin {
  /// Whether the user of a login has done their part elsewhere.
  enum Progress: Sendable {
    /// Not yet; the interval grows where the provider wants it to.
    case pending(slowsDown: Bool)
    /// There is a session.
    case session(IdentifiedSession)
  }

  /// The session for a code.
  ///
  /// - Throws: ``ProviderFailure``, as ``ChallengeProvider/verifyOTP(flow:code:)`` says.
  func session(
    for guess: CodeGuess, at provider: any AuthProvider, expecting user: ExpectedUser?
  ) async throws(ProviderFailure) -> IdentifiedSession {
    let session =
      guess.isBackupCode
      ? try await provider.require(\.backupCodes).verifyBackupCode(flow: flow, code: guess.code)
      : try await provider.require(\.challenges).verifyOTP(flow: flow, code: guess.code)
    return await IdentifiedSession(session, expecting: user, at: provider)
  }

  /// Asks whether the user is done at another device.
  ///
  /// - Throws: ``ProviderFailure``, as ``DeviceLoginProvider/pollUserAction(flow:)`` says.
  func progress(
    at provider: any AuthProvider, expecting user: ExpectedUser?
  ) async throws(ProviderFailure) -> Progress {
    switch try await provider.require(\.deviceLogin).pollUserAction(flow: flow) {
    case .pending(let slowsDown): return .pending(slowsDown: slowsDown)
    case .authenticated(let session):
      return .session(await IdentifiedSession(session, expecting: user, at: provider))
    }
  }

  /// Waits for a browser to come back, and returns its session with the time at which it came; how long the provider
  /// took after that is not known.
  ///
  /// - Throws: ``ProviderFailure``, as ``BrowserLoginProvider/awaitRedirect(flow:)`` says.
  func redirect(
    at provider: any AuthProvider, _ clock: any BrokerClock, expecting user: ExpectedUser?
  ) async throws(ProviderFailure) -> (identified: IdentifiedSession, cameAt: Moment) {
    let session = try await provider.require(\.browserLogin).awaitRedirect(flow: flow)
    let cameAt = clock.moment
    return (await IdentifiedSession(session, expecting: user, at: provider), cameAt)
  }
}
