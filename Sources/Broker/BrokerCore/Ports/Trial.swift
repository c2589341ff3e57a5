package import BrokerProtocol
package import SecretMemory

/// Tries everything that a broker does with a session at a provider, one thing after the other, and reports how each
/// went.
///
/// It decides and does nothing: the core carries out ``order``, and hands in the result. The session is its own. Once
/// there is one, every way to the end leads over its logout.
package protocol Trial: Sendable {
  /// The list of checks that a trial of a provider would make, each with what it would show.
  static func announcement(of provider: any AuthProvider, _ rules: SessionRules) -> [ProviderFinding]

  /// A trial that has not begun.
  init(
    of provider: any AuthProvider, _ rules: SessionRules, _ credentials: Credentials, _ options: TrialOptions)

  /// The next order to carry out.
  var order: TrialOrder { get }

  /// Begins.
  mutating func begin(at now: Timestamp) -> [ProviderFinding]

  /// Takes the provider's answer, and returns the findings that follow.
  ///
  /// An answer that was not asked for is passed over.
  mutating func take(_ answer: TrialAnswer, at now: Timestamp) -> [ProviderFinding]

  /// Answers the code that is waited for.
  ///
  /// - Parameters:
  ///   - answer: what the user says.
  ///   - now: what time it is.
  /// - Returns: why the provider is not asked, where that is so; then the code is waited for still.
  mutating func enter(_ answer: TrialCodeAnswer, at now: Timestamp) -> [ProviderFinding]

  /// Tries nothing more but the end of the session, where there is one.
  mutating func stop(at now: Timestamp) -> [ProviderFinding]

  /// Asks a provider for something.
  static func ask(_ provider: any AuthProvider, _ request: TrialRequest) async -> TrialAnswer

  /// Waits until a user has finished the user action of a login; ends soon after its task is cancelled.
  ///
  /// - Parameters:
  ///   - action: what the user is to do.
  ///   - provider: the provider of the login.
  ///   - now: the wall clock.
  ///   - pause: waits for some time, and says whether all of it has passed: not so where the task was cancelled.
  /// - Returns: the session, or why there is none.
  static func awaitUser(
    _ action: ProviderUserAction, _ provider: any AuthProvider, now: @Sendable () -> Timestamp,
    pause: @Sendable (Duration) async -> Bool
  ) async -> Result<ProviderSession, ProviderFailure>
}

/// The optional checks of a trial.
package struct TrialOptions: Sendable {
  /// Whether a wrong password is tried first.
  package var triesWrongPassword = false
  /// Whether a refresh token that was spent is tried once more.
  package var replaysToken = false

  package init() {}
}

/// The next action of a trial.
package enum TrialOrder: Sendable {
  /// Ask the provider.
  case ask(TrialRequest)
  /// Get a one-time code from the user.
  case awaitCode(ProviderChallenge)
  /// Wait until the user has done something elsewhere.
  case awaitUser(ProviderUserAction)
  /// Nothing: it is over.
  case end
}

/// A provider call that a trial asks for.
package enum TrialRequest: Sendable {
  /// A login.
  case login(Credentials)
  /// The session behind a one-time code.
  case verify(flow: Secret, code: Secret)
  /// The session behind a backup code.
  case verifyBackupCode(flow: Secret, code: Secret)
  /// Another one-time code.
  case resend(flow: Secret)
  /// The user.
  case currentUser(accessToken: BoundToken)
  /// Other tokens, after a pause.
  ///
  /// Two tokens of one second may be the same text where they say nothing but times (RFC 7519, section 4.1.6).
  case refresh(BoundToken)
  /// The end of a session.
  case revoke(TokenSet)
}

/// A provider's answer to a ``TrialRequest``.
package enum TrialAnswer: Sendable {
  /// To a login.
  case login(Result<LoginOutcome, ProviderFailure>)
  /// To a code, or to a user action.
  case session(Result<ProviderSession, ProviderFailure>)
  /// To the wish for another code.
  case challenge(Result<ProviderChallenge, ProviderFailure>)
  /// The user of the session.
  case user(Result<User, ProviderFailure>)
  /// To a refresh.
  case tokens(Result<TokenSet, ProviderFailure>)
  /// To a revocation; nil for a success.
  case revoked(ProviderFailure?)
}

extension TrialRequest {
  /// How long it is waited before it is asked: for a refresh longer than a second, the unit of every time in a token.
  package var pause: Duration? {
    guard case .refresh = self else { return nil }
    return .milliseconds(1100)
  }
}

/// A user's answer to a trial that waits for a one-time code.
package enum TrialCodeAnswer: Sendable {
  /// The code.
  case code(Secret)
  /// One of the account's backup codes instead of it.
  case backupCode(Secret)
  /// A request for another code.
  case another

  /// The first answer that a request carries; nil where it has none.
  package init?(_ params: ContinueTrial.Params) {
    if let code = params.code {
      self = .code(code)
    } else if let code = params.backupCode {
      self = .backupCode(code)
    } else if params.resends {
      self = .another
    } else {
      return nil
    }
  }

  /// The answer with its code as the provider knows it; as it was typed where there is no room for another copy.
  package func normalized(for provider: any AuthProvider) -> TrialCodeAnswer {
    switch self {
    case .code(let code): .code((try? TypedCode.normalized(code)) ?? code)
    case .backupCode(let code):
      .backupCode((try? TypedCode.normalized(code, provider.capabilities.dashesOfBackupCodes)) ?? code)
    case .another: .another
    }
  }
}
