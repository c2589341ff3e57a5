package import BrokerProtocol

extension ProviderFailure {
  /// The message for a login that fails by this method; nil where the error kind's own message fits.
  ///
  /// Not every login has a password, and a user who logged in elsewhere knows of no pending login.
  package func sentence(of method: LoginMethod) -> String? {
    switch (self, method) {
    case (.refused(.invalidCredentials, _, _, _), .refreshToken):
      "The provider rejected the refresh token: it is invalid, was used before or has expired."
    case (.refused(.invalidCredentials, _, _, _), .clientCredentials): ConfigurationFault.client.message
    case (.refused(.flowNotFound, _, _, _), .browser), (.refused(.flowNotFound, _, _, _), .deviceCode):
      LoginEnd.refusedCode
    default: nil
    }
  }
}

extension BrokerError {
  /// The error of a login by one of the ways.
  init(_ failure: ProviderFailure, of method: LoginMethod, profile: ProfileName) {
    if method == .refreshToken, case .outcomeUnknown(let kind, _) = failure {
      self.init(lostReply: kind, to: "refresh token", profile: profile)
      return
    }
    self.init(failure, profile: profile)
    guard let sentence = failure.sentence(of: method) else { return }
    message = sentence
    if method == .clientCredentials { nextAction = .fixConfig }
  }
}

extension BrokerError {
  /// The longest user code or address in a sentence; a longer one is for a program to show.
  private static let longestWord = 200

  /// The message where the user should have proved their identity again, and another user logged in.
  static let wrongUser = "The provider logged in a different user; log in as the session's user."

  /// Why there is no token: a login waits for its code, or for its user.
  init(pending step: PendingLoginStep) {
    self.init(.challengePending, profile: step.profile)
    switch step {
    case .code(let challenge): self.challenge = challenge
    case .action(let action):
      self.action = action
      nextAction = .wait
      message = Self.sentence(action)
    }
  }

  /// The error for a refresh that the provider has answered with a challenge, which waits for its code.
  init(reauthentication challenge: OTPChallenge) {
    self.init(
      .reauthRequired, "The provider requires a one-time code before it renews the session; verify the code.",
      profile: challenge.profile)
    self.challenge = challenge
    nextAction = .verifyOtp
  }

  /// The error for the callers of a pending login that ends with this kind.
  package init(_ kind: ErrorKind, endOf step: PendingLoginStep) {
    switch kind {
    case .otpExpired where step.action != nil:
      self.init(kind, "The login was not finished in time; log in again.", profile: step.profile)
    case .cancelled: self.init(kind, "The login was cancelled.", profile: step.profile)
    case .accessDenied: self.init(kind, Self.wrongUser, profile: step.profile)
    case .providerRejected where step.action?.kind == .deviceCode:
      self.init(
        kind, "The provider rejected the login at the other device; check clientId and scopes in the configuration.",
        profile: step.profile)
      nextAction = .fixConfig
    case .providerRejected where step.action != nil:
      // The user has done their part elsewhere: what is refused then is the client, or what it asks for.
      self.init(
        kind,
        "The provider rejected the login; check clientId, clientAuth, redirectUri and scopes in the configuration, and what "
          + "the client shows (clientSecret, privateKey or clientAssertion).", profile: step.profile)
      nextAction = .fixConfig
    default: self.init(kind, profile: step.profile)
    }
  }

  /// The error for a request whose profile has another session by now, or none.
  init(overtaken profile: ProfileName) {
    self.init(
      .cancelled, "The login was replaced by another login, a logout or a change of the profile; log in again.",
      profile: profile)
  }

  /// Describes the user action: the device's address and code, but never a browser's address, which is too long to
  /// read.
  static func sentence(_ action: UserAction) -> String {
    guard action.kind == .deviceCode else { return "A login is waiting for its user in a browser." }
    guard let place = action.verificationURI, place.utf8.count <= longestWord else {
      return "A login is waiting for its user at another device."
    }
    guard let code = action.userCode, code.utf8.count <= longestWord else {
      return "A login is waiting for its user at \(place)."
    }
    return "A login is waiting for its user at \(place) with the code \(code)."
  }
}
