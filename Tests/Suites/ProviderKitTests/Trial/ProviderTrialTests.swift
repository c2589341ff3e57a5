import BrokerCore
import BrokerProtocol
import SecretMemory
import TestSupport
import Testing

@testable import ProviderKit

/// What a trial decides, answer by answer.
@Suite(.standardTimeLimit) struct ProviderTrialTests {
  private static let now = Timestamp(milliseconds: 1_800_000_000_000)

  private static func secret(_ text: String) -> Secret { ScriptedProvider.secret(text) }

  private static func tokens(
    _ number: Int, refresh: String? = nil, lifetime: Duration? = .seconds(900), access: String? = nil
  ) -> TokenSet {
    TokenSet(
      accessToken: secret(access ?? "access-\(number)"), accessTokenExpiresAt: lifetime.map { now + $0 },
      refreshToken: secret(refresh ?? "refresh-\(number)"))
  }

  /// A provider that answers as a table says, and what it was asked, in order.
  private struct Player {
    var rules = SessionRules()
    var abilities: Set<ProviderAbility> = [.getCurrentUser]
    var method = LoginMethod.password
    var options = TrialOptions()
    var login: Result<LoginOutcome, ProviderFailure> = .success(
      .authenticated(ProviderSession(tokens: tokens(1), user: User(id: "u"))))
    var refreshes: [Result<TokenSet, ProviderFailure>] = [
      .success(tokens(2)), .success(tokens(3)), .failure(.sessionEnded(.refreshRejected)),
    ]
    var users: [Result<User, ProviderFailure>] = [.success(User(id: "u")), .failure(.tokenRefused)]
    var revocation: ProviderFailure?

    mutating func play() -> (findings: [String: ProviderFinding], asked: [String]) {
      var subject = ProviderTrial.Subject(ScriptedProvider(clock: ManualClock(), gate: GateExecutor { $0() }), rules)
      subject.abilities = abilities
      var trial = ProviderTrial(subject, Credentials(method: method, email: "a", password: secret("right")), options)
      var (findings, asked) = (trial.begin(at: now), [String]())
      for _ in 0..<50 {
        guard case .ask(let request) = trial.order else { break }
        let answer: TrialAnswer
        switch request {
        case .login(let credentials):
          let isRight = credentials.password == secret("right")
          asked.append(isRight ? "login" : "wrong")
          answer = .login(isRight ? login : .failure(.refused(.invalidCredentials)))
        case .verify, .verifyBackupCode: answer = .session(.failure(.refused(.otpExpired)))
        case .resend: answer = .challenge(.failure(.unsupported))
        case .currentUser:
          asked.append("user")
          answer = .user(users.isEmpty ? .failure(.tokenRefused) : users.removeFirst())
        case .refresh(let token):
          asked.append(token.value.revealedString() ?? "")
          answer = .tokens(
            refreshes.isEmpty ? .failure(.sessionEnded(.refreshRejected)) : refreshes.removeFirst())
        case .revoke(let tokens):
          asked.append("revoke " + (tokens.refreshToken?.value.revealedString() ?? ""))
          answer = .revoked(revocation)
        }
        findings += trial.take(answer, at: now)
      }
      return (Dictionary(findings.map { ($0.check, $0) }) { first, _ in first }, asked)
    }
  }

  private typealias Level = ProviderFinding.Level

  @Test func `everything is asked for in order, and each time with the newest token`() {
    var player = Player()
    let (findings, asked) = player.play()
    #expect(
      asked == ["login", "user", "refresh-1", "refresh-2", "revoke refresh-3", "user", "refresh-3"])
    #expect(findings.values.allSatisfy { $0.level == .ok || $0.check == "token.claims" }, "\(findings)")
  }

  @Test func `a wrong password and a spent token are tried only where somebody asks for it`() {
    var player = Player()
    player.options.triesWrongPassword = true
    player.options.replaysToken = true
    let (findings, asked) = player.play()
    #expect(asked == ["wrong", "login", "user", "refresh-1", "refresh-2", "refresh-1", "revoke refresh-3"])
    #expect(findings["reuse"]?.level == .ok && findings["logout"]?.level == .skipped)
  }

  @Test func `a spent token that is taken is a warning, but for a grace that is configured`() {
    for (grace, level) in [(Duration.zero, Level.warning), (.seconds(10), .note)] {
      var player = Player()
      player.rules.rotationGrace = grace
      player.options.replaysToken = true
      player.refreshes = [.success(Self.tokens(2)), .success(Self.tokens(3)), .success(Self.tokens(4))]
      let (findings, asked) = player.play()
      #expect(findings["reuse"]?.level == level && findings["logout"]?.level == .ok)
      #expect(asked.contains("revoke refresh-4"), "what came of it is ended")
    }
  }

  @Test(
    arguments: [
      (.refreshToken, .refused(.invalidCredentials), "rejected the refresh token"),
      (.clientCredentials, .refused(.invalidCredentials), "clientSecret"),
      (.browser, .refused(.flowNotFound), "rejected the authorization code"),
      (.password, .refused(.invalidCredentials), "the password is wrong"),
    ] as [(LoginMethod, ProviderFailure, String)])
  func `why there is no session is said in words that fit the way in`(
    _ method: LoginMethod, _ failure: ProviderFailure, _ words: String
  ) {
    var player = Player()
    player.method = method
    player.login = .failure(failure)
    let finding = player.play().findings["login"]
    #expect(finding?.level == .failure && finding?.message.contains(words) == true, "\(String(describing: finding))")
    #expect((finding?.advice == nil) == (method != .password))
  }

  @Test func `a port that is not free is said to be`() {
    var player = Player()
    player.method = .browser
    player.login = .failure(.misconfigured(.redirectPort))
    let finding = player.play().findings["login"]
    #expect(finding?.advice == ConfigurationFault.redirectPort.message && finding?.errorKind == .configInvalid)
  }

  @Test func `the session is ended whatever failed before`() {
    let failures: [ProviderFailure] = [
      .transient(.providerUnavailable), .outcomeUnknown(.timeout), .sessionEnded(.refreshRejected), .unsupported,
    ]
    for failure in failures {
      var player = Player()
      player.refreshes = [.failure(failure)]
      player.users = [.failure(failure)]
      let (findings, asked) = player.play()
      #expect(asked.contains("revoke refresh-1") && findings["refresh"]?.level == .failure)
      #expect(findings["refreshAgain"]?.level == .skipped && findings["rotation"]?.level == .skipped)
      #expect(findings["user"]?.level == .failure && findings["user"]?.errorKind == failure.kind)
    }
  }

  @Test func `a session that is still good after its logout is a failure`() {
    var player = Player()
    player.refreshes[2] = .success(Self.tokens(4))
    player.users[1] = .success(User(id: "u"))
    let (findings, _) = player.play()
    #expect(findings["refreshAfterLogout"]?.level == .failure)
    #expect(findings["accessAfterLogout"]?.level == .warning)
    #expect(findings["accessAfterLogout"]?.message.contains("900 s") == true)
  }

  @Test func `a provider that cannot end sessions is not asked what became of one`() {
    var player = Player()
    player.revocation = .unsupported
    let (findings, asked) = player.play()
    #expect(findings["logout"]?.level == .warning && asked.last == "revoke refresh-3")
    #expect(findings["accessAfterLogout"]?.level == .skipped && findings["refreshAfterLogout"]?.level == .skipped)
  }

  @Test func `another user, and the same token again, are failures`() {
    var player = Player()
    player.users[0] = .success(User(id: "somebody else"))
    player.refreshes[0] = .success(Self.tokens(2, access: "access-1"))
    let (findings, _) = player.play()
    #expect(findings["user"]?.level == .failure && findings["refresh"]?.level == .failure)
  }

  @Test(arguments: [
    (Duration?.none, ProviderFinding.Level.warning), (.seconds(-5), .failure), (.seconds(30), .warning),
    (.seconds(60), .ok), (.seconds(86_400), .ok), (.seconds(86_401), .warning),
  ])
  func `how long a token lives is judged`(_ lifetime: Duration?, _ level: ProviderFinding.Level) {
    var player = Player()
    player.login = .success(
      .authenticated(ProviderSession(tokens: Self.tokens(1, lifetime: lifetime), user: User(id: "u"))))
    #expect(player.play().findings["token.lifetime"]?.level == level)
  }

  @Test func `a token's own end is compared with what the reply says`() {
    // {"exp":1800000900}, {"exp":1800003600}, and what is none of these.
    let tokens: [(String, Level?)] = [
      ("e30.eyJleHAiOjE4MDAwMDA5MDB9.x", .ok), ("e30.eyJleHAiOjE4MDAwMDM2MDB9.x", .warning), ("e30.e30.x", nil),
      ("e30.!.x", .note), ("opaque", .note), ("e30.W10.x", .note), ("..", .note),
      ("e30.eyJleHAiOjFlMzA4fQ.x", nil), ("e30.eyJleHAiOiJ4In0.x", nil),
    ]
    for (token, level) in tokens {
      var player = Player()
      player.login = .success(
        .authenticated(ProviderSession(tokens: Self.tokens(1, access: token), user: User(id: "u"))))
      #expect(player.play().findings["token.claims"]?.level == level, "\(token)")
    }
  }

  @Test(arguments: [
    (Rotation.never, true, ProviderFinding.Level.failure), (.always, true, .ok), (.auto, true, .ok),
    (.always, false, .warning), (.never, false, .ok), (.auto, false, .ok),
  ])
  func `the rotation that is configured is compared with what was seen`(
    _ rotation: Rotation, _ rotates: Bool, _ level: ProviderFinding.Level
  ) {
    var player = Player()
    player.rules.rotation = rotation
    if !rotates {
      player.refreshes = [
        .success(Self.tokens(2, refresh: "refresh-1")), .success(Self.tokens(3, refresh: "refresh-1")),
      ]
    }
    #expect(player.play().findings["rotation"]?.level == level)
  }

  @Test func `a client that logs in by itself has no user and no refresh token, and that is no failure`() {
    var player = Player()
    player.method = .clientCredentials
    var tokens = Self.tokens(1)
    tokens.refreshToken = nil
    player.login = .success(.authenticated(ProviderSession(tokens: tokens, user: nil)))
    let (findings, asked) = player.play()
    #expect(asked == ["login", "revoke "])
    #expect(!findings.values.contains { $0.level == .failure || $0.level == .warning }, "\(findings)")
  }

  @Test func `a stop leads over the logout, from everywhere`() {
    let subject = ProviderTrial.Subject(
      ScriptedProvider(clock: ManualClock(), gate: GateExecutor { $0() }), SessionRules())
    let credentials = Credentials(email: "a", password: Self.secret("right"))
    var trial = ProviderTrial(subject, credentials)
    _ = trial.begin(at: Self.now)
    #expect(trial.stop(at: Self.now).isEmpty)
    _ = trial.take(
      .login(.success(.authenticated(ProviderSession(tokens: Self.tokens(1), user: nil)))), at: Self.now)
    guard case .ask(.revoke) = trial.order else {
      Issue.record("the session that came is ended: \(trial.order)")
      return
    }
    #expect(trial.take(.revoked(nil), at: Self.now).map(\.check) == ["logout"])
    guard case .end = trial.order else {
      Issue.record("it is over: \(trial.order)")
      return
    }
    #expect(trial.take(.revoked(nil), at: Self.now).isEmpty && trial.stop(at: Self.now).isEmpty)
    #expect(trial.enter(.code(Self.secret("1")), at: Self.now).isEmpty)
    guard case .end = trial.order else {
      Issue.record("it stays over: \(trial.order)")
      return
    }
  }
}
