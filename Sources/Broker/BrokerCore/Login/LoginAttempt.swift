import BrokerProtocol
import SecretMemory

/// A login that is not answered yet, and the callers that wait for it.
struct LoginAttempt {
  /// The parameters of a login; equal logins share one call of the provider.
  struct Question: Equatable {
    /// The credentials for the provider.
    let credentials: Credentials
    /// The user that it must bring; nil for any.
    let expectedUser: ExpectedUser?
    /// Whether it may replace another user's living session.
    let mayReplace: Bool
  }

  /// The parameters of a login, and how it was begun.
  struct Plan {
    /// The login method.
    var method = LoginMethod.password
    /// The parameters that make another login equal; nil for a login that is not shared.
    var question: Question?
    /// The user that it must bring; nil for any.
    var expectedUser: ExpectedUser?
    /// Whether it may replace another user's living session.
    var mayReplace = false
    /// The account, as the client has named it; nil where it has not.
    var account: String?
    /// The context that the client gave; callers that share the call have their own.
    var clientContext: String?
  }

  /// Names the attempt.
  let id: UInt64
  /// The stay of the profile that it was begun for.
  let slot: SlotID
  /// How many logouts the profile had seen: one more, and the attempt is void.
  let logouts: UInt64
  /// How often the vault had been locked.
  let locks: UInt64
  /// Its parameters.
  let plan: Plan
  /// The connection that has begun it; nil for none.
  let client: ClientID?
  /// The connections that began or joined it.
  var beginners = LoginBeginners()
  /// Whether callers of other connections have joined it: then it is no connection's own.
  var isShared = false
  /// The callers that wait for the answer.
  var callers: [CallerID] = []
  /// Whether a caller's connection was closed: such a caller has not changed its mind, and the login goes on.
  var hasAbsentCaller = false
  /// Whether all callers have cancelled their login: then a session that it brings is revoked.
  var isCancelled: Bool { callers.isEmpty && !hasAbsentCaller }
  /// Whether the provider has answered, and the session is being saved: it cannot be cancelled any more.
  var isAnswered = false

  /// The profile.
  var profile: ProfileName { slot.profile }

  /// The connection whose own login it is.
  var provingClient: ClientID? { isShared ? nil : client }

  /// Whether the attempt still counts: no logout came after it was begun, nor a lock of the vault after which it can be
  /// done again, and its profile is still the same.
  func isPresent(on slot: ProfileSlot) -> Bool {
    self.slot == slot.id && logouts == slot.logouts && (locks == slot.locks || plan.method == .refreshToken)
  }

  /// Whether it still counts, and a caller wants it.
  func isWanted(on slot: ProfileSlot) -> Bool { isPresent(on: slot) && !isCancelled }
}

extension LoginAttempt {
  /// The next step for an attempt that its provider has answered.
  enum Step {
    /// It fails, and a session that it brought is revoked.
    case fail(ProviderFailure)
    /// The present session is kept, and the one that it brought is revoked.
    case keep
    /// Its session is saved.
    case accept(ProviderSession)
    /// It waits for a code or for its user, and an event says so.
    case wait(PendingLogin, telling: EventPayload)
    /// The user must verify the e-mail address.
    case askForVerification
  }

  /// Decides the next step after the provider's answer.
  ///
  /// - Parameters:
  ///   - answer: what the provider said.
  ///   - proof: whether a session that has come may be the profile's.
  ///   - makeID: makes the handle of a login that waits.
  /// - Returns: what is to be done.
  func step(after answer: LoginAnswer, proof: (IdentifiedSession) -> SessionProof, makeID: () -> String) -> Step {
    switch answer {
    case .session(let identified):
      switch proof(identified) {
      case .given: return .accept(identified.session)
      case .otherUser: return .fail(.refused(.accessDenied))
      case .replacesAnother: return .keep
      case .unknown(let failure): return .fail(failure)
      }
    case .code(let provided):
      var challenge = provided.described(id: makeID(), profile: profile, clientContext: plan.clientContext)
      challenge.beginners = beginners
      var login = pending(.code(challenge), flow: provided.flow)
      login.account = plan.account
      return .wait(login, telling: .otpChallenge(challenge))
    case .action(let provided):
      var action = provided.described(id: makeID(), profile: profile, clientContext: plan.clientContext)
      action.beginners = beginners
      let event = EventPayload.loginPending(action)
      // An address that no event can carry is none that a person could follow.
      guard event.fits else { return .fail(.transient(.invalidResponse)) }
      return .wait(pending(.action(action), flow: provided.flow), telling: event)
    case .emailVerification: return .askForVerification
    }
  }

  private func pending(_ step: PendingLoginStep, flow: Secret) -> PendingLogin {
    var login = PendingLogin(step: step, flow: flow, method: plan.method, expectedUser: plan.expectedUser)
    login.mayReplace = plan.mayReplace
    login.client = provingClient
    return login
  }
}

/// A provider's answer to a login.
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
