import BrokerProtocol

/// A session that a login has brought, with its user as far as the provider says.
struct IdentifiedSession: Sendable {
  /// The session.
  var session: ProviderSession
  /// Why the provider, asked whose session it is, did not say; nil where it did, was not asked, or cannot.
  var doubt: ProviderFailure?

  /// Whether it is the session of the expected user, if one is expected.
  ///
  /// A provider that does not tell whose session it is has not shown that it is the user's.
  func proof(of user: ExpectedUser?) -> SessionProof {
    guard let user, !user.isSame(as: session.user) else { return .given }
    return doubt.map { .unknown($0) } ?? .otherUser
  }
}

extension IdentifiedSession {
  /// A session with its user, whom the provider is asked for where a certain user is expected and it did not say at once.
  ///
  /// It throws nothing: a session that has come is saved or revoked, whatever else goes wrong.
  init(_ session: ProviderSession, expecting user: ExpectedUser?, at provider: any AuthProvider) async {
    self.init(session: session)
    guard user != nil, session.user == nil, let userInfo = provider.capabilities.userInfo else { return }
    do throws(ProviderFailure) {
      self.session.user = try await userInfo.currentUser(accessToken: session.tokens.accessToken)
    } catch {
      if error != .unsupported { doubt = error }
    }
  }
}
