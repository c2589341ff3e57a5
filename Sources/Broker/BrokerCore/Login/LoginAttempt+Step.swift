import BrokerProtocol
import SecretMemory

extension LoginAttempt {
  /// What comes of an attempt that its provider has answered.
  enum Step {
    /// It fails, and a session that it brought is revoked.
    case fail(ProviderFailure)
    /// The session that is there is kept, and the one that it brought is revoked.
    case keep
    /// Its session is saved.
    case accept(ProviderSession)
    /// It waits for a code or for its user, and an event says so.
    case wait(PendingLogin, telling: EventPayload)
    /// The user must verify the e-mail address.
    case askForVerification
  }

  /// Decides what comes of the provider's answer.
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
