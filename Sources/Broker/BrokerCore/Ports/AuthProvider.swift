package import BrokerProtocol

/// Logs users in: all that the core knows of a provider.
///
/// Here are the calls of every provider; optional ones are in ``capabilities``. Every call may take long, so none runs
/// on the loop; each is done once and never repeated by the provider itself.
///
/// Rules for every provider, tested on each: a wrong password and an unknown address are both `invalidCredentials`; a
/// session has the expiry of its access token and, with ``UserInfoProvider``, its user; each login and each refresh
/// gives other tokens than before.
package protocol AuthProvider: Sendable {
  /// The binding of this provider's sessions.
  var binding: ProviderBinding { get }

  /// The login methods with their inputs, the preferred one first: a client that names no method gets the first whose
  /// credentials it gives.
  ///
  /// The first whose credentials are given is taken.
  var loginForms: [LoginForm] { get }

  /// The scopes to request where the client names none; empty for the provider's default.
  var requestedScopes: [String] { get }

  /// The optional capabilities of the provider as it is configured.
  var capabilities: ProviderCapabilities { get }

  /// Begins a login by the method that the credentials name, one of ``loginMethods``.
  func login(_ credentials: Credentials) async throws(ProviderFailure) -> LoginOutcome

  /// Spends the refresh token (RFC 6749, section 6).
  func refresh(_ refreshToken: BoundToken) async throws(ProviderFailure) -> TokenSet

  /// Sends one request that changes nothing and carries no credential, to see whether the provider can be reached.
  ///
  /// It ends within the time of a call that a person waits for, whatever the provider does. Its failure is the
  /// information that the caller wants, with the place that was tried, so it is a result and no error.
  func probe() async -> ProviderProbe

  /// Examines the provider: its metadata, and what users lose where they are incomplete.
  ///
  /// As ``probe()`` it changes nothing at the provider and ends in time; it may send more than one request, and the
  /// client's own name, but no user's credential. Texts of the provider are sanitised and bounded.
  func examine() async -> [ProviderFinding]

  /// Whether tokens are made, changed or ended at an address, as far as that is known: no client has a request sent there.
  func issues(at address: TargetAddress) -> Bool

  /// Reads what says where that is, unless it is known; no failure is told.
  func learnAddresses() async

  /// Whether ``learnAddresses()`` has nothing to do.
  var knowsAddresses: Bool { get }
}

extension AuthProvider {
  /// The login methods, in the order of ``loginForms``.
  package var loginMethods: [LoginMethod] { loginForms.map(\.method) }

  /// False, for a provider that is reached by no address.
  package func issues(at address: TargetAddress) -> Bool { false }

  /// Nothing, for a provider whose addresses are configured.
  package func learnAddresses() async {}

  /// True, as above.
  package var knowsAddresses: Bool { true }

  /// Spends a refresh token of which no store knows, as ``refresh(_:)`` does; where the provider has refused it for its
  /// proof of possession alone, so that it is unspent, it is sent again at once.
  package func refreshUnrecorded(_ refreshToken: BoundToken) async throws(ProviderFailure) -> TokenSet {
    for _ in 0..<RefreshMachine.mostProofs {
      do throws(ProviderFailure) { return try await refresh(refreshToken) } catch {
        guard error.wantsProof else { throw error }
      }
    }
    return try await refresh(refreshToken)
  }
}
