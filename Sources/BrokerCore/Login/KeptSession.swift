import BrokerProtocol

/// The session of a profile, as it is kept from a connection that has not proven access to the state directory: such a
/// connection replaces it by another session of the same user, and by no other.
///
/// So is the place of a user whose session such a connection has signed out, over restarts: a logout is open to all, and would
/// else be the first half of putting another user in the owner's place. It ends with the user's next login, with one by
/// a connection that may replace sessions, and with a logout by such a connection; and it is never kept from the connection
/// whose own login had brought that session: an editor logs one user out and another one in. Where the provider does not
/// say whose session it was, there is no place to be kept.
struct KeptSession: Sendable {
  /// Whose session it is; nil where the provider does not say.
  var user: User?
  /// Whether it is the client's own (client credentials), which has no user.
  var isClientsOwn = false

  /// Whom a login must bring, as far as that is known: the provider is asked whose session has come.
  var expectedUser: ExpectedUser? { ExpectedUser(id: user?.id, email: user?.email) }

  /// Whether it is known before the provider is asked that a login would replace it by another user's session, or may
  /// do so by a token that was issued elsewhere.
  func refuses(_ credentials: Credentials) -> Bool {
    switch credentials.method {
    case .refreshToken: return true
    case .clientCredentials: return !isClientsOwn
    case .password, .deviceCode, .browser: break
    }
    guard let user else { return true }
    guard let own = user.email, let given = credentials.email else { return false }
    return own.lowercased() != given.lowercased()
  }

  /// Whether what a login has brought may take its place.
  func proof(of identified: IdentifiedSession, isClientsOwn: Bool, _ method: LoginMethod) -> SessionProof {
    if method == .refreshToken { return .replacesAnother }
    if self.isClientsOwn && isClientsOwn { return .given }
    guard let expectedUser, !expectedUser.isSame(as: identified.session.user) else {
      return user == nil ? .replacesAnother : .given
    }
    return identified.doubt.map { .unknown($0) } ?? .replacesAnother
  }
}

extension BrokerError {
  /// What is said where a login would replace a session that its connection may not replace.
  static func keeping(_ profile: ProfileName) -> BrokerError {
    var error = BrokerError(
      .reauthRequired,
      "This login would replace the session of the user who is or was logged in by another user's or by a token that was "
        + "issued elsewhere, which needs access to the broker's state directory; use authbroker login, or authbroker logout "
        + "first.", profile: profile)
    error.nextAction = .none
    return error
  }
}

extension Broker {
  /// The session that a login leaves in its place unless it is its own user's.
  ///
  /// - Parameters:
  ///   - slot: the profile.
  ///   - mayReplace: whether the login came by a connection that has proven access to the state directory.
  ///   - client: the connection whose own login it is; nil for none.
  /// - Returns: nil where there is none, and for a connection that may replace it.
  func keptSession(of slot: ProfileSlot, unless mayReplace: Bool, by client: ClientID?) -> KeptSession? {
    guard !mayReplace else { return nil }
    guard let session = slot.machine.sessionInUse(at: now) else {
      guard let user = slot.machine.formerUser, client == nil || client != slot.formerClient else { return nil }
      return KeptSession(user: user)
    }
    let user = slot.machine.isSigningIn ? session.user : slot.user
    return KeptSession(user: user, isClientsOwn: slot.provider.capabilities.areClientsOwn(session.tokens))
  }

  /// Whose place is kept once a connection has signed a profile out; nil for none.
  func userKept(atLogoutOf slot: ProfileSlot, by peer: Peer?) -> User? {
    guard let peer, !peer.isAdministrative else { return nil }
    guard slot.machine.sessionInUse(at: now) != nil else {
      return peer.client == slot.formerClient ? nil : slot.machine.formerUser
    }
    guard peer.client != slot.provingClient else { return nil }
    return keptSession(of: slot, unless: false, by: nil)?.user.map { User(id: $0.id, email: $0.email) }
  }

  /// Whose session a pending login is to bring, as far as the provider must be asked for it.
  func expectedUser(of login: PendingLogin, on slot: ProfileSlot) -> ExpectedUser? {
    login.expectedUser ?? keptSession(of: slot, unless: login.mayReplace, by: login.client)?.expectedUser
  }

  /// Whether a session that a login has brought may be the profile's.
  func proof(
    of identified: IdentifiedSession, _ user: ExpectedUser?, _ method: LoginMethod, _ mayReplace: Bool,
    by client: ClientID?, _ slot: ProfileSlot
  ) -> SessionProof {
    let proof = identified.proof(of: user)
    guard proof == .given, let kept = keptSession(of: slot, unless: mayReplace, by: client) else {
      return proof
    }
    let isClientsOwn = slot.provider.capabilities.areClientsOwn(identified.session.tokens)
    return kept.proof(of: identified, isClientsOwn: isClientsOwn, method)
  }

  /// The connection whose own login has brought a session.
  func provingClient(of origin: LoginOrigin) -> ClientID? {
    switch origin {
    case .attempt(let id): logins.attempts[id]?.provingClient
    case .pending(let login, _): login.client
    }
  }
}
