package import BrokerProtocol
import SecretMemory

/// Why an address is not the one that the browser of a login ended at.
package enum RedirectFault: Error, Sendable, Equatable, CaseIterable {
  /// It is no address with a query, and no query: a bare code names neither its login nor its issuer.
  case noAddress
  /// The browser is awaited at another place.
  case otherPlace
  /// Its state is another login's (RFC 6749, section 10.12).
  case otherLogin
  /// Another provider has made it (RFC 9207).
  case otherIssuer
  /// Its end is missing.
  case incomplete

  /// The sentence for the user: the cause, and the next step.
  var message: String {
    switch self {
    case .noAddress: "This is not the address of a finished login; give the whole address that the browser ended at."
    case .otherPlace:
      "This is not the address that the login returns to; log in with the browser, and give the address that it ends at."
    case .otherLogin: "This address is of another login; open the address of this one, and log in there."
    case .otherIssuer: "This address was made by another provider than the profile's; do not use it."
    case .incomplete: "This address is cut off; give the whole address that the browser ended at."
    }
  }
}

extension LoginMachine {
  /// How many addresses of other logins end a login.
  static let wrongAddressLimit = 10

  /// Counts an address that is not this login's.
  mutating func refuseAddress() -> [Action] {
    guard state == .listening else { return [] }
    login.wrongCodes += 1
    return login.wrongCodes < Self.wrongAddressLimit ? [] : end(.of(.tooManyAttempts), isTold: true)
  }
}

extension Broker {
  /// Goes on with a login by the address that its browser ended at, and answers how the login ends.
  ///
  /// - Throws: `flowNotFound`; `reauthRequired` for a connection that has not begun the login; `invalidParams` for an
  ///   address that is not this login's, and `tooManyAttempts` where that was the last one.
  package func completeLogin(_ params: CompleteLogin.Params, _ caller: Caller<LoginResult>) throws(BrokerError) {
    let id = params.loginFlowID
    guard let machine = login(id, for: caller.principal), let action = machine.login.step.action else {
      return answer(caller, pastResult(of: id, for: caller.principal))
    }
    guard let browser = slot(named: action.profile)?.provider.capabilities.browserLogin, action.kind == .browser else {
      throw BrokerError(.flowNotFound, profile: action.profile)
    }
    guard action.beginners.include(caller.principal) else { throw Self.notBegun(by: caller, action) }
    do throws(RedirectFault) {
      if machine.state == .listening { try browser.takeRedirect(params.redirectURL, flow: machine.login.flow) }
    } catch {
      handle(.addressRefused, onLogin: id)
      throw refusal(error, of: machine.login.step)
    }
    note(caller.id, waitsFor: .userAction(login: id))
  }

  private static func notBegun(by caller: Caller<LoginResult>, _ action: UserAction) -> BrokerError {
    var error = BrokerError(
      .reauthRequired, "Only the connection that began this login, or one that has proven itself, can complete it.",
      profile: action.profile)
    error.admitsProof = true
    return error
  }

  /// The error for an address that is not the login's.
  private func refusal(_ fault: RedirectFault, of step: PendingLoginStep) -> BrokerError {
    guard let machine = logins[step.id] else { return BrokerError(.tooManyAttempts, endOf: step) }
    var error = BrokerError(.invalidParams, fault.message, profile: step.profile, pointer: "/redirectUrl")
    error.attemptsRemaining = LoginMachine.wrongAddressLimit - machine.login.wrongCodes
    return error
  }
}
