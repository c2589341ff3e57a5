import BrokerProtocol

/// What a provider has answered to a login.
enum LoginAnswer: Sendable {
  /// A session.
  case session(IdentifiedSession)
  /// A one-time code is wanted.
  case code(ProviderChallenge)
  /// The user has to do something elsewhere.
  case action(ProviderUserAction)
  /// The e-mail address must be verified first.
  case emailVerification

  /// An outcome, with the user of its session where a certain one is expected.
  init(_ outcome: LoginOutcome, expecting user: ExpectedUser?, at provider: any AuthProvider) async {
    switch outcome {
    case .authenticated(let session):
      self = .session(await IdentifiedSession(session, expecting: user, at: provider))
    case .otpRequired(let challenge): self = .code(challenge)
    case .userActionRequired(let action): self = .action(action)
    case .emailVerificationRequired: self = .emailVerification
    }
  }

  /// The session, if there is one.
  var session: IdentifiedSession? {
    guard case .session(let session) = self else { return nil }
    return session
  }
}
