package import BrokerProtocol
import SecretMemory

/// Tries everything that a broker does with a session at a provider, one thing after the other, and says how each went.
///
/// It decides and does nothing: its runner does what ``order`` says, and hands in what came of it. The session is its
/// own. Once there is one, every way to the end leads over its logout.
package struct ProviderTrial: Sendable {
  /// What is known of the provider before anything is tried.
  package struct Subject: Sendable {
    /// What it can do besides the least.
    package var abilities: Set<ProviderAbility>
    /// What sessions are asked for.
    package var requestedScopes: [String]
    /// How the profile's sessions are to be treated.
    package var rules: SessionRules

    /// A provider, and the rules of a profile.
    package init(_ provider: any AuthProvider, _ rules: SessionRules) {
      abilities = provider.abilities
      requestedScopes = provider.requestedScopes
      self.rules = rules
    }
  }

  /// What is tried only on request.
  package struct Options: Sendable {
    /// Whether a wrong password is tried first.
    package var triesWrongPassword = false
    /// Whether a refresh token that was spent is tried once more.
    package var replaysToken = false

    package init() {}
  }

  /// What is to be done next.
  package enum Order: Sendable {
    /// Ask the provider.
    case ask(TrialRequest)
    /// Get a one-time code from the user.
    case awaitCode(ProviderChallenge)
    /// Wait until the user has done something elsewhere.
    case awaitUser(ProviderUserAction)
    /// Nothing: it is over.
    case end
  }

  /// What is to be done next.
  package internal(set) var order = Order.end

  /// What is known of the provider.
  let subject: Subject
  /// What the session is begun with.
  let credentials: Credentials
  /// What is still to be examined, the next one first.
  private var stages: [TrialStage]
  /// What the provider was asked for.
  private var current: TrialStage?
  /// What was examined, and went as it should.
  var passed: Set<TrialStage> = []
  /// The tokens of the session, as long as it is not ended.
  var tokens: TokenSet?
  /// Whose session it is.
  var user: User?
  /// A refresh token that was spent.
  var spent: Secret?
  /// Whether the provider has given another refresh token for it.
  var rotates = false
  /// Whether the session may have ended with a refresh token that was tried once more.
  var isBurnt = false
  /// The challenge that was answered.
  var challenge: ProviderChallenge?
  private var isStopped = false

  /// A trial that has not begun.
  package init(_ subject: Subject, _ credentials: Credentials, _ options: Options = Options()) {
    self.subject = subject
    self.credentials = credentials
    stages = TrialStage.allCases.filter { stage in
      switch stage {
      case .wrongPassword: options.triesWrongPassword
      case .reuse: options.replaysToken
      default: true
      }
    }
  }

  /// What would be tried, each with what it would show.
  package static func announcement(_ subject: Subject) -> [ProviderFinding] {
    TrialStage.allCases.map { stage in
      let option: String? =
        switch stage {
        case .wrongPassword: "only with --wrong-password, since some providers lock accounts for it"
        case .reuse: "only with --reuse, since it may end every session of the user"
        case .user where !subject.abilities.contains(.getCurrentUser): "skipped: the provider has no such endpoint"
        default: nil
        }
      return ProviderFinding(stage.rawValue, .note, stage.meaning, advice: option)
    }
  }

  /// Begins.
  package mutating func begin(at now: Timestamp) -> [ProviderFinding] { advance(at: now) }

  /// Takes what the provider answered, and says what that shows.
  ///
  /// An answer that was not asked for is passed over.
  package mutating func take(_ answer: TrialAnswer, at now: Timestamp) -> [ProviderFinding] {
    guard let stage = current else { return [] }
    order = .end
    let findings = judge(stage, answer, at: now)
    if isStopped, case .awaitCode = order { order = .end }
    if isStopped, case .awaitUser = order { order = .end }
    // A login may go on with a code, or with something that the user does.
    guard case .end = order else { return findings }
    current = nil
    return findings + advance(at: now)
  }

  /// Tries nothing more but the end of the session, where there is one.
  package mutating func stop(at now: Timestamp) -> [ProviderFinding] {
    isStopped = true
    if case .ask = order { return [] }
    current = nil
    return advance(at: now)
  }

  /// Goes on to the next thing that the provider must be asked for.
  private mutating func advance(at now: Timestamp) -> [ProviderFinding] {
    var findings: [ProviderFinding] = []
    order = .end
    if isStopped { stages = stages.contains(.logout) && tokens != nil ? [.logout] : [] }
    while !stages.isEmpty {
      let stage = stages.removeFirst()
      if let obstacle = obstacle(stage) {
        findings.append(ProviderFinding(stage.rawValue, .skipped, obstacle))
      } else if let request = request(stage) {
        current = stage
        order = .ask(request)
        return findings
      } else {
        findings += stage == .token ? tokenFindings(at: now) : rotationFindings()
      }
    }
    return findings
  }

  /// What must be asked for; nil where enough is known.
  private func request(_ stage: TrialStage) -> TrialRequest? {
    switch stage {
    case .wrongPassword: wrongLogin.map { .login($0) }
    case .login: .login(credentials)
    case .token, .rotation: nil
    case .user, .accessAfterLogout: tokens.map { .currentUser(accessToken: $0.accessToken) }
    case .refresh, .refreshAgain, .refreshAfterLogout: tokens?.refreshToken.map { .refresh($0) }
    case .reuse: spent.map { .refresh($0) }
    case .logout: tokens.map { .revoke($0) }
    }
  }

  /// The same account with a made-up password.
  private var wrongLogin: Credentials? {
    var wrong = credentials
    wrong.password = try? Secret(utf8: "not-the-password-" + String(UInt64.random(in: .min ... .max), radix: 36))
    return wrong.password == nil ? nil : wrong
  }
}
