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
    var revokesWholeGrants = false
    var targetAnswer: Refresh?
    var targets: [TokenTarget] = []
    var isClientsOwn = false
    var endedTokens: Set<String> = []
    var lostCodes: ProviderFailure?
    var loginFailure: ProviderFailure?
    var backupCodes: [String] = []
    var comesWithoutRefreshToken = false
  }

  /// Holds every call back while a test wants it to.
  nonisolated let gate: GateExecutor
  package nonisolated var unownedExecutor: UnownedSerialExecutor { gate.asUnownedSerialExecutor() }

  private let clock: ManualClock
  /// What the test has said, and what the provider was asked.
  let state = Mutex(State())

  /// What sessions are bound to.
  package nonisolated let binding: ProviderBinding
  /// What it can do.
  package nonisolated let abilities = Set(ProviderAbility.allCases).subtracting([.verifyEmail, .awaitLogin])
  /// Whether it ends more than one session at a time.
  package nonisolated var revokesWholeGrants: Bool { state.withLock { $0.revokesWholeGrants } }
  /// How it logs people in.
  package nonisolated var loginMethods: [LoginMethod] { state.withLock { $0.methods } }

  /// A provider whose tokens live 15 minutes by the clock of the test.
  package init(clock: ManualClock, gate: GateExecutor, type: String = "scripted") {
    self.gate = gate
    self.clock = clock
    binding = ProviderBinding(type: type)
  }

  /// The next tokens.
  func tokens(lifetime: Duration, isRefresh: Bool = false) -> TokenSet {
    let number = state.withLock { state in
      state.issued += 1
      return state.issued
    }
    var tokens = Self.tokens(number, now: clock.now, lifetime: lifetime)
    if state.withLock({ $0.comesWithoutRefreshToken }) { tokens.refreshToken = nil }
    let (skew, idTokens) = state.withLock { ($0.clockSkew, $0.idTokens) }
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

  private var session: ProviderSession {
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

  package nonisolated func areClientsOwn(_ tokens: TokenSet) -> Bool { state.withLock { $0.isClientsOwn } }

  private static func description(of credentials: Credentials) -> String {
    let scopes = credentials.scopes.isEmpty ? "" : " " + credentials.scopes.joined(separator: ",")
    return credentials.method.rawValue + (credentials.email.map { " " + $0 } ?? "") + scopes
      + (credentials.wantsFreshProof ? " fresh" : "")
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

  package func pollUserAction(flow: Secret) async throws(ProviderFailure) -> UserActionProgress {
    let poll = state.withLock { state in
      state.pollCount += 1
      return state.polls.isEmpty ? .pending() : state.polls.removeFirst()
    }
    switch poll {
    case .pending(let slowsDown): return .pending(slowsDown: slowsDown)
    case .done: return .authenticated(session)
    case .fails(let failure): throw failure
    }
  }

  package func awaitRedirect(flow: Secret) async throws(ProviderFailure) -> ProviderSession {
    let redirectGate = RedirectGate(GateExecutor { [gate] in gate.postNow($0) })
    state.withLock { $0.redirects.append(redirectGate) }
    await withTaskCancellationHandler {
      await redirectGate.pass()
    } onCancel: {
      redirectGate.open()
    }
    let redirect = state.withLock { state in
      state.redirects.removeAll { $0 === redirectGate }
      return state.redirect
    }
    guard !Task.isCancelled, let redirect else { throw .transient(.cancelled) }
    if case .fails(let failure) = redirect { throw failure }
    return session
  }

  private var challenge: ProviderChallenge {
    ProviderChallenge(
      flow: Self.secret("flow"), method: .sms, maskedDestination: "•••67", otpLength: 6,
      expiresAt: clock.now + .seconds(300), nextResendAt: clock.now + .seconds(30), attemptsRemaining: 5)
  }

  package func register(_ registration: Registration) async throws(ProviderFailure) -> LoginOutcome {
    .authenticated(session)
  }

  package func verifyOTP(flow: Secret, code: Secret) async throws(ProviderFailure) -> ProviderSession {
    state.withLock { $0.codes.append(code.revealedString() ?? "") }
    if let failure = state.withLock({ $0.lostCodes }) { throw failure }
    guard code == Self.secret("123456") else { throw state.withLock { $0.wrongCode } }
    return session
  }

  package func resendOTP(flow: Secret) async throws(ProviderFailure) -> ProviderChallenge {
    let failure = state.withLock { state in
      state.resends += 1
      return state.resendFailure
    }
    if let failure { throw failure }
    return challenge
  }

  package func refresh(_ refreshToken: Secret) async throws(ProviderFailure) -> TokenSet {
    let isEnded = state.withLock { state in
      state.spent.append(refreshToken.revealedString() ?? "")
      return state.endedTokens.contains(refreshToken.revealedString() ?? "")
    }
    if isEnded { throw .sessionEnded(.refreshRejected) }
    switch state.withLock({ $0.refresh }) {
    case .succeeds(let lifetime): return tokens(lifetime: lifetime, isRefresh: true)
    case .keepsRefreshToken:
      var tokens = tokens(lifetime: .seconds(900), isRefresh: true)
      tokens.refreshToken = nil
      return tokens
    case .fails(let failure): throw failure
    }
  }

  package func revoke(_ tokens: TokenSet, everywhere: Bool) async throws(ProviderFailure) {
    try state.withLock { state throws(ProviderFailure) in
      let token = tokens.refreshToken?.revealedString() ?? ""
      state.revoked.append(Revocation(token: token, everywhere: everywhere))
      if let failure = state.revocationFailure { throw failure }
    }
  }

  package func verifyBackupCode(flow: Secret, code: Secret) async throws(ProviderFailure) -> ProviderSession {
    state.withLock { $0.backupCodes.append(code.revealedString() ?? "") }
    if let failure = state.withLock({ $0.lostCodes }) { throw failure }
    guard code == Self.secret("backup") else { throw .refused(.backupCodeInvalid, attemptsRemaining: 4) }
    var session = session
    session.backupCodesRemaining = 9
    return session
  }

  package func probe() async -> ProviderProbe { state.withLock { $0.probe } }
}
