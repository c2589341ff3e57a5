import BrokerProtocol

/// A living session, as it is kept from a connection that has not proven access to the state directory: such a
/// connection replaces it by another session of the same user, and by no other.
struct KeptSession: Sendable {
  /// The session's user; nil where the provider does not say.
  var user: User?
  /// Whether it is the client's own (client credentials), which has no user.
  var isClientsOwn = false

  /// The user that a login must bring, as far as it is known: the provider is asked whose session has come.
  var expectedUser: ExpectedUser? { ExpectedUser(id: user?.id, email: user?.email) }

  /// Whether a login certainly would, or by a token that was issued elsewhere may, replace it by another user's
  /// session: known before the provider is asked.
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

  /// Whether the session of a login may take its place.
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
  /// The error for a login that would replace a session which its connection may not replace.
  static func keeping(_ profile: ProfileName) -> BrokerError {
    var error = BrokerError(
      .reauthRequired,
      "This login would replace a living session by another user's or by a token that was issued elsewhere, which needs "
        + "access to the broker's state directory; use authbroker login, or log out first.", profile: profile)
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
  /// - Returns: nil where there is none, and for a connection that may replace it.
  func keptSession(of slot: ProfileSlot, unless mayReplace: Bool) -> KeptSession? {
    guard !mayReplace, let session = slot.machine.sessionInUse(at: now) else { return nil }
    let user = slot.machine.isSigningIn ? session.user : slot.user
    return KeptSession(user: user, isClientsOwn: slot.provider.capabilities.areClientsOwn(session.tokens))
  }

  /// The user that a pending login must bring, as far as the provider has to be asked.
  func expectedUser(of login: PendingLogin, on slot: ProfileSlot) -> ExpectedUser? {
    login.expectedUser ?? keptSession(of: slot, unless: login.mayReplace)?.expectedUser
  }

  /// Whether a session that a login has brought may be the profile's.
  func proof(
    of identified: IdentifiedSession, _ user: ExpectedUser?, _ method: LoginMethod, _ mayReplace: Bool,
    _ slot: ProfileSlot
  ) -> SessionProof {
    let proof = identified.proof(of: user)
    guard proof == .given, let kept = keptSession(of: slot, unless: mayReplace) else { return proof }
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
