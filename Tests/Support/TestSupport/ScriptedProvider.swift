package import BrokerCore
package import BrokerProtocol
package import SecretMemory
import Synchronization

/// A provider that does what a test says, and keeps a ledger of what it was asked.
package actor ScriptedProvider: AuthProvider {
  /// How the next refreshes end.
  package enum Refresh: Sendable {
    /// New tokens, rotated, with this lifetime.
    case succeeds(lifetime: Duration)
    /// A new access token, and nothing about the refresh token.
    case keepsRefreshToken
    /// A failure.
    case fails(ProviderFailure)
    /// A challenge for a code.
    case wantsCode
  }

  /// A revocation that it was asked for.
  package struct Revocation: Sendable, Equatable {
    /// The refresh token.
    package var token: String
    /// Whether all sessions were meant.
    package var everywhere: Bool

    /// A revocation.
    package init(token: String, everywhere: Bool) {
      self.token = token
      self.everywhere = everywhere
    }
  }

  /// What a question whether the user is done is answered with.
  package enum Poll: Sendable {
    /// Not yet.
    case pending(slowsDown: Bool = false)
    /// A session.
    case done
    /// A failure.
    case fails(ProviderFailure)
  }

  /// What a browser brings.
  package enum Redirect: Sendable {
    /// A session.
    case done
    /// A failure.
    case fails(ProviderFailure)
  }

  /// What the test has said, and what the provider was asked.
  struct State {
    var refresh = Refresh.succeeds(lifetime: .seconds(900))
    var issued = 0
    var spent: [String] = []
    var revoked: [Revocation] = []
    var revocationFailure: ProviderFailure?
    var wantsCode = false
    var methods: [LoginMethod] = [.password]
    var actionLifetime = Duration.seconds(600)
    var polls: [Poll] = []
    var pollCount = 0
    var redirects: [RedirectGate] = []
    var redirect: Redirect?
    var logins: [String] = []
    var codes: [String] = []
    var wrongCode = ProviderFailure.refused(.otpInvalid, attemptsRemaining: 4)
    var resendFailure: ProviderFailure?
    var resends = 0
    var userID = "user-1"
    var namesUser = true
    var refusedTokens: [Secret] = []
    var accountFailure: ProviderFailure?
    var newTokens = false
    var accountCalls: [String] = []
    var probe = ProviderProbe.nothingToReach
    var clockSkew: Duration?
    var idTokens: IDTokens?
    var habit: RevocationHabit? = .token
    var targetAnswer: Refresh?
    var targets: [TokenTarget] = []
    var isClientsOwn = false
    var endedTokens: Set<String> = []
    var lostCodes: ProviderFailure?
    var loginFailure: ProviderFailure?
    var backupCodes: [String] = []
    var comesWithoutRefreshToken = false
    var enrolmentAttempts: Int?
    var enrolmentFailure: ProviderFailure?
    var grant: [SubjectReference]?
    var grantToken = BoundToken.Kind.bearer
    var shown: [[String]] = []
    var client: TokenClient?
    var key: ProofKey?
  }

  /// Holds every call back while a test wants it to.
  nonisolated let gate: GateExecutor
  package nonisolated var unownedExecutor: UnownedSerialExecutor { gate.asUnownedSerialExecutor() }

  /// The clock of the test.
  let clock: ManualClock
  /// What the test has said, and what the provider was asked.
  let state = Mutex(State())

  /// What sessions are bound to.
  package nonisolated let binding: ProviderBinding
  /// How it logs people in.
  package nonisolated var loginForms: [LoginForm] { state.withLock { $0.methods }.map { LoginForm($0) } }
  /// Whatever it gives.
  package nonisolated var requestedScopes: [String] { [] }

  /// A provider whose tokens live 15 minutes by the clock of the test.
  package init(clock: ManualClock, gate: GateExecutor, type: String = "scripted", issuer: String = "") {
    self.gate = gate
    self.clock = clock
    binding = ProviderBinding(type: type, issuer: issuer)
  }

  /// The next tokens.
  func tokens(lifetime: Duration, isRefresh: Bool = false) -> TokenSet {
    let number = state.withLock { state in
      state.issued += 1
      return state.issued
    }
    var tokens = Self.tokens(number, now: clock.now, lifetime: lifetime)
    if state.withLock({ $0.comesWithoutRefreshToken }) { tokens.refreshToken = nil }
    let (skew, idTokens, client, key) = state.withLock { ($0.clockSkew, $0.idTokens, $0.client, $0.key) }
    if let client { tokens = tokens.issued(to: client) }
    tokens = tokens.bound(to: key)
    tokens.clockSkew = skew
    if let idTokens, idTokens.comeWithRefreshes || !isRefresh {
      tokens.idToken = Self.idToken(number, issuedAt: clock.now + (skew ?? .zero), lifetime: idTokens.lifetime)
    }
    return tokens
  }

  /// The `number`-th pair of tokens that this provider issues.
  package static func tokens(_ number: Int, now: Timestamp, lifetime: Duration = .seconds(900)) -> TokenSet {
    TokenSet(
      accessToken: secret("access-\(number)"), accessTokenExpiresAt: now + lifetime,
      refreshToken: secret("refresh-\(number)"), refreshTokenExpiresAt: now + .seconds(86400), scopes: ["read"])
  }

  /// A secret that is none.
  package static func secret(_ text: String) -> Secret {
    guard let secret = try? Secret(utf8: text) else { preconditionFailure("the arena is used up") }
    return secret
  }

  /// A session of the user who logs in now.
  var session: ProviderSession {
    let (id, isNamed) = state.withLock { ($0.userID, $0.namesUser) }
    let user = User(id: id, email: id == "user-1" ? "a@example.test" : "\(id)@example.test")
    return ProviderSession(tokens: tokens(lifetime: .seconds(900)), user: isNamed ? user : nil)
  }

  package func login(_ credentials: Credentials) async throws(ProviderFailure) -> LoginOutcome {
    state.withLock { $0.logins.append(Self.description(of: credentials)) }
    if let failure = state.withLock({ $0.loginFailure }) { throw failure }
    switch credentials.method {
    case .deviceCode, .browser: return .userActionRequired(action(credentials.method))
    case .clientCredentials:
      state.withLock { $0.isClientsOwn = true }
      return .authenticated(session)
    case .refreshToken:
      guard credentials.refreshToken == Self.secret("taken") else { throw .refused(.invalidCredentials) }
      return .authenticated(session)
    case .password: break
    }
    guard credentials.password == Self.secret("right") else { throw .refused(.invalidCredentials) }
    guard state.withLock({ $0.wantsCode }) else { return .authenticated(session) }
    return .otpRequired(challenge)
  }

  private static func description(of credentials: Credentials) -> String {
    let scopes = credentials.scopes.isEmpty ? "" : " " + credentials.scopes.joined(separator: ",")
    return credentials.method.rawValue + (credentials.email.map { " " + $0 } ?? "") + scopes
      + (credentials.wantsFreshProof ? " fresh" : "")
      + (credentials.stepUp.map { " acr=\($0.acrValues.joined(separator: ",")) age=\($0.maxAge ?? -1)" } ?? "")
  }

  private func action(_ method: LoginMethod) -> ProviderUserAction {
    let end = clock.now + state.withLock { $0.actionLifetime }
    guard method == .deviceCode else {
      return ProviderUserAction(
        flow: Self.secret("browser"), kind: .browser, verificationURI: "https://id.example/authorize", expiresAt: end)
    }
    return ProviderUserAction(
      flow: Self.secret("device"), kind: .deviceCode, verificationURI: "https://id.example/device",
      verificationURIComplete: "https://id.example/device?c=AB-CD", userCode: "AB-CD", expiresAt: end)
  }

  package func refresh(_ refreshToken: BoundToken) async throws(ProviderFailure) -> TokenSet {
    let isEnded = state.withLock { state in
      state.spent.append(refreshToken.value.revealedString() ?? "")
      return state.endedTokens.contains(refreshToken.value.revealedString() ?? "")
    }
    if isEnded { throw .sessionEnded(.refreshRejected) }
    switch state.withLock({ $0.refresh }) {
    case .succeeds(let lifetime): return tokens(lifetime: lifetime, isRefresh: true)
    case .keepsRefreshToken:
      var tokens = tokens(lifetime: .seconds(900), isRefresh: true)
      tokens.refreshToken = nil
      return tokens
    case .fails(let failure): throw failure
    case .wantsCode: throw .challenged(challenge)
    }
  }

  package func probe() async -> ProviderProbe { state.withLock { $0.probe } }

  package func examine() async -> [ProviderFinding] { [] }
}
