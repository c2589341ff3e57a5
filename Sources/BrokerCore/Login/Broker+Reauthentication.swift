package import BrokerProtocol

/// How the user of a session proves once more who they are.
extension Broker {
  /// Has the user of a session prove who they are; the session goes on with the tokens that this brings, and a new
  /// `authTime`.
  ///
  /// With a password, the session's e-mail address is logged in again; without one, the provider must have its users
  /// prove it at another device or in a browser. A session of another user is revoked, and nothing is changed.
  package func reauthenticate(_ params: Reauthenticate.Params, _ caller: Caller<LoginResult>) throws(BrokerError) {
    let slot = try slot(for: params.profile)
    guard let living = slot.machine.living else { throw BrokerError(.loginRequired, profile: slot.name) }
    let user = slot.user
    var credentials = Credentials(
      method: try Self.method(of: params, slot), email: user?.email, password: params.password,
      scopes: living.tokens.scopes)
    credentials.wantsFreshProof = true
    guard credentials.method != .password || user?.email != nil else {
      throw BrokerError(
        .missingCredential, "The e-mail address of the session is not known; log in instead.", profile: slot.name)
    }
    try begin(slot, credentials, as: ExpectedUser(id: user?.id, email: user?.email), caller)
  }

  private static func method(
    of params: Reauthenticate.Params, _ slot: ProfileSlot
  ) throws(BrokerError) -> LoginMethod {
    let offered = slot.provider.loginMethods
    guard params.password == nil else {
      guard offered.contains(.password) else {
        throw BrokerError(
          .unsupportedByProvider, "The provider of this profile does not support passwords.", profile: slot.name)
      }
      return .password
    }
    if let method = offered.first(where: { $0 == .browser || $0 == .deviceCode }) { return method }
    guard offered.contains(.password) else { throw BrokerError(.unsupportedByProvider, profile: slot.name) }
    throw LoginMethodChoice.missing(["password"], slot.name)
  }

  /// The session with its user, where a certain user is expected and the provider did not say at once whose it is.
  ///
  /// It throws nothing: a session that has come is saved or revoked, whatever else goes wrong.
  static func identified(
    _ session: ProviderSession, _ expected: ExpectedUser?, _ provider: any AuthProvider
  ) async -> IdentifiedSession {
    guard expected != nil, session.user == nil, provider.abilities.contains(.getCurrentUser) else {
      return IdentifiedSession(session: session)
    }
    var session = session
    do throws(ProviderFailure) {
      session.user = try await provider.currentUser(accessToken: session.tokens.accessToken)
      return IdentifiedSession(session: session)
    } catch {
      return IdentifiedSession(session: session, failure: error == .unsupported ? nil : error)
    }
  }

  /// Whether a session is that of the user who is expected, if one is.
  ///
  /// A provider that does not tell whose session it is has not shown that it is the user's.
  static func isProven(_ session: ProviderSession, _ expected: ExpectedUser?) -> Bool {
    expected.map { $0.isSame(as: session.user) } ?? true
  }
}

/// A session that a login has brought, with its user as far as the provider says.
struct IdentifiedSession: Sendable {
  /// The session.
  var session: ProviderSession
  /// Why the provider, which was asked whose it is, did not say; nil where it did, or need not, or cannot.
  ///
  /// That is no other user: what is told is this failure.
  var failure: ProviderFailure?

  /// What a login that waited for a user's action has come to if the session is not proven to be the expected user's.
  var actionEnd: LoginFlow.Event { failure.map { .actionUnproven($0) } ?? .actionFailed(.refused(.accessDenied)) }

  /// What a code has come to then: it is used up, whatever the failure.
  func codeEnd(guess: UInt64) -> LoginFlow.Event {
    .codeRefused(guess: guess, failure.map { .outcomeUnknown($0.kind) } ?? .refused(.accessDenied))
  }
}
