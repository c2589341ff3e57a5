package import BrokerCore
package import BrokerProtocol
import SecretMemory

/// A trial of a provider as its findings are decided, answer by answer.
package struct ProviderTrial: Trial {
  /// The provider's properties that are known before the trial.
  struct Subject {
    /// The provider's abilities.
    var abilities: Set<ProviderAbility>
    /// The requested scopes.
    var requestedScopes: [String]
    /// The rules for the profile's sessions.
    var rules: SessionRules

    /// A provider, and the rules of a profile.
    init(_ provider: any AuthProvider, _ rules: SessionRules) {
      abilities = provider.abilities
      requestedScopes = provider.requestedScopes
      self.rules = rules
    }
  }

  /// The next order for the runner.
  package internal(set) var order = TrialOrder.end

  /// The provider's properties.
  let subject: Subject
  /// The credentials of the trial's login.
  let credentials: Credentials
  /// The stages still to come, the next one first.
  private var stages: [TrialStage]
  /// The stage that the provider was asked for.
  private var current: TrialStage?
  /// The stages that went as they should.
  var passed: Set<TrialStage> = []
  /// The tokens of the session, as long as it is not ended.
  var tokens: TokenSet?
  /// The user of the session.
  var user: User?
  /// A refresh token that was spent.
  var spent: BoundToken?
  /// Whether the provider has given another refresh token for it.
  var rotates = false
  /// Whether the session may have ended with a refresh token that was tried once more.
  var isBurnt = false
  /// The challenge that was answered.
  var challenge: ProviderChallenge?
  private var isStopped = false

  /// A trial that has not begun.
  init(_ subject: Subject, _ credentials: Credentials, _ options: TrialOptions = TrialOptions()) {
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

  /// A trial of what the provider can do.
  package init(
    of provider: any AuthProvider, _ rules: SessionRules, _ credentials: Credentials, _ options: TrialOptions
  ) {
    self.init(Subject(provider, rules), credentials, options)
  }

  /// Says for each stage what it would show, and which are skipped.
  package static func announcement(of provider: any AuthProvider, _ rules: SessionRules) -> [ProviderFinding] {
    let subject = Subject(provider, rules)
    return TrialStage.allCases.map { stage in
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

  /// Goes to the first stage.
  package mutating func begin(at now: Timestamp) -> [ProviderFinding] { advance(at: now) }

  /// Judges the answer, and goes to the next stage.
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

  /// Goes to the logout, where there is a session.
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

  /// The request that a stage needs; nil where enough is known.
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
