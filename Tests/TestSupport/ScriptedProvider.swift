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

  private struct State {
    var refresh = Refresh.succeeds(lifetime: .seconds(900))
    var issued = 0
    var spent: [String] = []
    var revoked: [Revocation] = []
    var revocationFailure: ProviderFailure?
    var wantsCode = false
    var refusedTokens: [Secret] = []
    var accountFailure: ProviderFailure?
    var newTokens = false
    var accountCalls: [String] = []
    var probe = ProviderProbe.nothingToReach
    var clockSkew: Duration?
  }

  private nonisolated let gate: GateExecutor
  package nonisolated var unownedExecutor: UnownedSerialExecutor { gate.asUnownedSerialExecutor() }

  private let clock: ManualClock
  private let state = Mutex(State())

  /// What sessions are bound to.
  package nonisolated let binding: ProviderBinding
  /// What it can do.
  package nonisolated let abilities: Set<ProviderAbility> = Set(ProviderAbility.allCases).subtracting([.verifyEmail])

  /// A provider whose tokens live 15 minutes by the clock of the test.
  package init(clock: ManualClock, gate: GateExecutor, type: String = "scripted") {
    self.gate = gate
    self.clock = clock
    binding = ProviderBinding(type: type)
  }

  /// Decides how refreshes end from now on.
  package nonisolated func setRefresh(_ refresh: Refresh) { state.withLock { $0.refresh = refresh } }

  /// Lets logins ask for a code.
  package nonisolated func setWantsCode(_ wantsCode: Bool) { state.withLock { $0.wantsCode = wantsCode } }

  /// Refuses an access token in everything that needs one.
  package nonisolated func refuse(accessToken: String) {
    state.withLock { $0.refusedTokens.append(Self.secret(accessToken)) }
  }

  /// Decides how everything that concerns the account ends; nil lets it succeed.
  package nonisolated func setAccountFailure(_ failure: ProviderFailure?) {
    state.withLock { $0.accountFailure = failure }
  }

  /// Decides what a probe finds.
  package nonisolated func setProbe(_ probe: ProviderProbe) { state.withLock { $0.probe = probe } }

  /// Puts the provider's clock ahead of the test's by so much; nil lets it not say the time.
  package nonisolated func setClockSkew(_ skew: Duration?) { state.withLock { $0.clockSkew = skew } }

  /// How many calls wait for ``release()``.
  package nonisolated var waitingCalls: Int { gate.waiting }

  /// Lets a changed password come with new tokens.
  package nonisolated func setGivesNewTokens(_ newTokens: Bool) { state.withLock { $0.newTokens = newTokens } }

  /// What was done with the account, in order.
  package nonisolated var accountCalls: [String] { state.withLock { $0.accountCalls } }

  /// Makes refreshes wait until ``release()``.
  package nonisolated func hold() { gate.shut() }

  /// Whether refreshes wait.
  package nonisolated var isHolding: Bool { gate.isShut }

  /// Lets refreshes go on.
  package nonisolated func release() { gate.open() }

  /// The refresh tokens that were spent, in order.
  package nonisolated var spentTokens: [String] { state.withLock { $0.spent } }

  /// How many revocations it was asked for.
  package nonisolated var revocations: Int { state.withLock { $0.revoked.count } }

  /// The revocations that it was asked for, in order.
  package nonisolated var revocationLedger: [Revocation] { state.withLock { $0.revoked } }

  /// Decides how revocations end; nil lets them succeed.
  package nonisolated func setRevocationFailure(_ failure: ProviderFailure?) {
    state.withLock { $0.revocationFailure = failure }
  }

  private func tokens(lifetime: Duration) -> TokenSet {
    let number = state.withLock { state in
      state.issued += 1
      return state.issued
    }
    var tokens = Self.tokens(number, now: clock.now, lifetime: lifetime)
    tokens.clockSkew = state.withLock { $0.clockSkew }
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
    ProviderSession(tokens: tokens(lifetime: .seconds(900)), user: User(id: "user-1", email: "a@example.test"))
  }

  package func login(_ credentials: Credentials) async throws(ProviderFailure) -> LoginOutcome {
    guard credentials.password == Self.secret("right") else { throw .refused(.invalidCredentials) }
    guard state.withLock({ $0.wantsCode }) else { return .authenticated(session) }
    return .otpRequired(challenge)
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
    guard code == Self.secret("123456") else { throw .refused(.otpInvalid, attemptsRemaining: 4) }
    return session
  }

  package func resendOTP(flow: Secret) async throws(ProviderFailure) -> ProviderChallenge { challenge }

  package func refresh(_ refreshToken: Secret) async throws(ProviderFailure) -> TokenSet {
    state.withLock { $0.spent.append(refreshToken.revealedString() ?? "") }
    switch state.withLock({ $0.refresh }) {
    case .succeeds(let lifetime): return tokens(lifetime: lifetime)
    case .keepsRefreshToken:
      var tokens = tokens(lifetime: .seconds(900))
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
    guard code == Self.secret("backup") else { throw .refused(.backupCodeInvalid, attemptsRemaining: 4) }
    var session = session
    session.backupCodesRemaining = 9
    return session
  }

  package func forgotPassword(email: String) async throws(ProviderFailure) {
    try note("forgotPassword \(email)")
  }

  package func resetPassword(token: Secret, newPassword: Secret) async throws(ProviderFailure) {
    try note("resetPassword")
  }

  package func updateProfile(_ changes: ProfileChanges, accessToken: Secret) async throws(ProviderFailure) -> User {
    try note("updateProfile \(changes.members.map(\.name))", accessToken)
    return User(id: "user-1", email: "a@example.test", name: "B")
  }

  package func changePassword(
    from oldPassword: Secret, to newPassword: Secret, accessToken: Secret
  ) async throws(ProviderFailure) -> TokenSet? {
    try note("changePassword", accessToken)
    return state.withLock { $0.newTokens } ? tokens(lifetime: .seconds(900)) : nil
  }

  package func deleteAccount(password: Secret, accessToken: Secret) async throws(ProviderFailure) {
    try note("deleteAccount", accessToken)
  }

  private func note(_ call: String, _ accessToken: Secret? = nil) throws(ProviderFailure) {
    try state.withLock { state throws(ProviderFailure) in
      state.accountCalls.append(call)
      if let accessToken, state.refusedTokens.contains(accessToken) { throw .tokenRefused }
      if let failure = state.accountFailure { throw failure }
    }
  }

  package func probe() async -> ProviderProbe { state.withLock { $0.probe } }

  package func currentUser(accessToken: Secret) async throws(ProviderFailure) -> User {
    try note("currentUser", accessToken)
    return User(id: "user-1", email: "a@example.test", name: "A")
  }
}
