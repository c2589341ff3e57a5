import BrokerProtocol
import SecretMemory
import TestSupport
import Testing

@testable import BrokerCore

/// Logins that their provider has not answered yet: who shares one, who may cancel one, and what comes of the answer.
@Suite(.standardTimeLimit) struct LoginAttemptTests {
  private static let user = User(id: "user-1", email: "a@example.test")
  private static let expected = ExpectedUser(id: "user-1", email: nil)

  private static func slot() -> ProfileSlot {
    let provider = ScriptedProvider(clock: ManualClock(), gate: GateExecutor { _ in })
    let settings = ProfileSettings(name: .default, provider: provider)
    return ProfileSlot(1, settings, Broker.machine(for: settings, SimulatedEntropy(seed: 1)))
  }

  private static func question(_ password: String = "right") -> LoginAttempt.Question {
    LoginAttempt.Question(
      credentials: Credentials(email: "a@example.test", password: ScriptedProvider.secret(password)),
      expectedUser: nil, mayReplace: true)
  }

  private static func begin(_ attempts: inout LoginAttempts, _ caller: UInt64, on slot: ProfileSlot) -> UInt64 {
    let plan = LoginAttempt.Plan(question: question())
    return attempts.begin(plan, on: slot, for: CallerID(caller), of: .broker)
  }

  @Test func `equal logins share one attempt until a logout, and different ones do not`() {
    let slot = Self.slot()
    var attempts = LoginAttempts()
    let id = Self.begin(&attempts, 1, on: slot)
    let joined = attempts.join(CallerID(2), of: .broker, Self.question(), on: slot)
    let joinedOther = attempts.join(CallerID(3), of: .broker, Self.question("other"), on: slot)
    #expect(joined && !joinedOther && attempts.count(on: slot) == 1 && attempts.hasAny(on: slot))
    slot.logouts += 1
    let joinedLate = attempts.join(CallerID(4), of: .broker, Self.question(), on: slot)
    #expect(!joinedLate && !attempts.hasAny(on: slot) && attempts[id]?.isPresent(on: slot) == false)
    let told = (attempts.finish(id), attempts.finish(id))
    #expect(told == (LoginSample.callers(1, 2), []))
  }

  @Test func `an attempt that callers of several connections share is no connection's own`() {
    let slot = Self.slot()
    for (other, owner) in [(ClientID(1), ClientID(1)), (ClientID(2), nil)] {
      var attempts = LoginAttempts()
      let plan = LoginAttempt.Plan(question: Self.question())
      let principal = Principal(client: ClientID(1), process: nil)
      let id = attempts.begin(plan, on: slot, for: CallerID(1), of: principal)
      #expect(attempts[id]?.provingClient == ClientID(1))
      _ = attempts.join(
        CallerID(2), of: Principal(client: other, process: nil), Self.question(), on: slot)
      #expect(attempts[id]?.provingClient == owner)
    }
  }

  @Test func `an attempt is cancelled with its last caller, unless a connection was closed`() {
    let slot = Self.slot()
    for isCancelled in [true, false] {
      var attempts = LoginAttempts()
      let id = Self.begin(&attempts, 1, on: slot)
      _ = attempts.join(CallerID(2), of: .broker, Self.question(), on: slot)
      let left = attempts.leave(CallerID(1), isCancelled: isCancelled)
      #expect(left && attempts[id]?.isCancelled == false)
      let leftLast = attempts.leave(CallerID(2), isCancelled: true)
      #expect(leftLast && attempts[id]?.isCancelled == isCancelled)
      let joined = attempts.join(CallerID(3), of: .broker, Self.question(), on: slot)
      #expect(joined != isCancelled, "a login that all callers have cancelled is shared with no other")
    }
  }

  @Test func `an attempt that its provider has answered cannot be cancelled any more`() {
    let slot = Self.slot()
    var attempts = LoginAttempts()
    attempts.noteAnswered(Self.begin(&attempts, 1, on: slot))
    let isCancelled = attempts.leave(CallerID(1), isCancelled: true)
    let isLeft = attempts.leave(CallerID(1), isCancelled: false)
    #expect(!isCancelled && isLeft)
  }

  private static func step(_ answer: LoginAnswer, expecting user: ExpectedUser? = nil) -> LoginAttempt.Step? {
    var attempts = LoginAttempts()
    let plan = LoginAttempt.Plan(method: .password, expectedUser: user, account: "a@example.test")
    let id = attempts.begin(plan, on: slot(), for: CallerID(1), of: .broker)
    return attempts[id]?.step(after: answer, proof: { $0.proof(of: user) }, makeID: { "handle" })
  }

  private static func session(of user: User?, _ doubt: ProviderFailure? = nil) -> LoginAnswer {
    let tokens = TokenSet(
      accessToken: ScriptedProvider.secret("access"), accessTokenExpiresAt: nil, refreshToken: nil)
    return .session(IdentifiedSession(session: ProviderSession(tokens: tokens, user: user), doubt: doubt))
  }

  @Test func `a session is accepted unless another user is expected`() {
    for (user, expected) in [(Self.user, Self.expected), (Self.user, nil), (nil, nil)] as [(User?, ExpectedUser?)] {
      guard case .accept(let session)? = Self.step(Self.session(of: user), expecting: expected) else {
        Issue.record("\(String(describing: user)) is not accepted")
        continue
      }
      #expect(session.user == user)
    }
  }

  private static let unproven: [(User?, ProviderFailure?, ProviderFailure)] = [
    (User(id: "user-2"), nil, .refused(.accessDenied)), (nil, nil, .refused(.accessDenied)),
    (nil, .transient(.networkUnavailable), .transient(.networkUnavailable)),
  ]

  @Test(arguments: unproven)
  func `a session that is not proven to be the expected user's fails with what is known of it`(
    _ user: User?, _ doubt: ProviderFailure?, _ failure: ProviderFailure
  ) {
    guard case .fail(failure)? = Self.step(Self.session(of: user, doubt), expecting: Self.expected) else {
      Issue.record("it does not fail so")
      return
    }
  }

  @Test func `a code is waited for under the broker's own handle`() {
    guard
      case .wait(let login, .otpChallenge(let challenge))? = Self.step(
        .code(LoginSample.provided), expecting: Self.expected)
    else {
      Issue.record("it does not wait")
      return
    }
    #expect(challenge.otpFlowID == "handle" && login.step == .code(challenge) && login.account == "a@example.test")
    #expect(login.flow == LoginSample.provided.flow && login.expectedUser == Self.expected)
  }

  @Test func `a user is waited for where an event can carry the address`() {
    for (length, waits) in [(10, true), (EventPayload.byteLimit, false)] {
      let action = ProviderUserAction(
        flow: LoginSample.flowSecret, kind: .browser,
        verificationURI: "https://id.example/" + String(repeating: "a", count: length),
        expiresAt: LoginSample.start + .seconds(300))
      switch Self.step(.action(action)) {
      case .wait(let login, .loginPending(let told))?:
        #expect(waits && login.step == .action(told) && login.account == nil)
      case .fail(.transient(.invalidResponse, _, _))?: #expect(!waits)
      default: Issue.record("it neither waits nor fails")
      }
    }
  }

  @Test func `an address that must be verified first is said`() {
    guard case .askForVerification? = Self.step(.emailVerification) else {
      Issue.record("it is not said")
      return
    }
  }
}
