package import BrokerProtocol

/// A session that a provider has given for a login.
struct IssuedSession: Sendable {
  /// The profile and the provider that a session is asked for.
  struct Issuer: Sendable {
    /// The provider.
    let provider: any AuthProvider
    /// The profile, and its stay in the configuration.
    let slot: SlotID

    /// The provider of a profile.
    init(_ slot: ProfileSlot) {
      provider = slot.provider
      self.slot = slot.id
    }

    /// The profile.
    var profile: ProfileName { slot.profile }
  }

  /// The session.
  let session: ProviderSession
  /// The provider, and the profile's stay, that it was issued for.
  let issuer: Issuer
  /// When it was asked for.
  let sentAt: Moment
}

/// A session that a login has brought, with its user as far as the provider says.
struct IdentifiedSession: Sendable {
  /// The session.
  var session: ProviderSession
  /// The failure to find out the session's user; nil where it is known, was not asked for, or the provider cannot tell.
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
  /// A session with its user, for whom the provider is asked where a certain user is expected and it did not name one
  /// at once.
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

/// The login that brought a session.
enum LoginOrigin: Sendable {
  /// One that its provider answered at once.
  case attempt(UInt64)
  /// A pending login; these callers gave the code that brought it.
  case pending(PendingLogin, callers: [CallerID])
}

/// The members of a login's events beside its method.
package struct LoginDetails: Sendable, Equatable {
  /// The context that its client gave, repeated in its events.
  package var clientContext: String?
  /// The connections that began it.
  package var beginners: LoginBeginners
  /// Whether a backup code stood in for the one-time code.
  package var usesBackupCode: Bool

  /// The details of a login.
  package init(
    clientContext: String? = nil, beginners: LoginBeginners = LoginBeginners(), usesBackupCode: Bool = false
  ) {
    self.clientContext = clientContext
    self.beginners = beginners
    self.usesBackupCode = usesBackupCode
  }
}
