import BrokerProtocol

/// What a provider is asked for a pending login.
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

  /// Waits for a browser to come back, and gives its session with the time at which it came: the waiting was for the
  /// browser, and how long the provider took after that is not known.
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
