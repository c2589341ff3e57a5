package import BrokerProtocol

/// The method that has the user of a session authenticate again.
extension Broker {
  /// Has the user of a session authenticate again; the session goes on with the new tokens, and a new `authTime`.
  ///
  /// With a password, the session's e-mail address is logged in again; without one, the provider must authenticate its
  /// user at another device or in a browser. A session of another user is revoked, and nothing is changed.
  package func reauthenticate(
    _ params: Reauthenticate.Params, _ caller: Caller<LoginResult>
  ) throws(BrokerError) {
    let slot = try view(of: caller.principal).slot(for: params.profile)
    let known: Method<LoginResult> = { broker, caller throws(BrokerError) in try broker.reauthenticate(params, caller) }
    guard isKnown(slot, caller, again: known) else { return }
    guard let living = slot.machine.living else { throw BrokerError(.loginRequired, profile: slot.name) }
    let user = slot.user
    let method = try LoginMethodChoice.proofMethod(
      withPassword: params.password != nil, offered: slot.provider.loginMethods, profile: slot.name)
    var credentials = Credentials(
      method: method, email: user?.email, password: params.password, scopes: living.tokens.scopes)
    credentials.wantsFreshProof = true
    credentials.take(slot.stepUp)
    guard credentials.method != .password || user?.email != nil else {
      throw BrokerError(
        .missingCredential, "The e-mail address of the session is not known; log in instead.", profile: slot.name)
    }
    let expected = ExpectedUser(id: user?.id, email: user?.email)
    try begin(slot, credentials, as: expected, mayReplace: caller.principal.isAdministrative, nil, caller)
  }
}
