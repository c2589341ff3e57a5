package import BrokerCore
package import BrokerProtocol
package import HTTP
import LinuxSystem
package import ProviderKit
import SecretMemory

/// A provider that speaks OpenID Connect, or OAuth 2.0 without it.
///
/// It finds the provider's endpoints itself. No call is repeated that may have reached the provider, but for one that
/// only reads.
package final class OIDCProvider: AuthProvider {
  /// The time.
  package typealias Clock = @Sendable () -> Timestamp

  /// The provider's type, issuer and the client's name, and given endpoints that tokens are sent to.
  package let binding: ProviderBinding
  /// The login methods, as configured.
  package let loginForms: [LoginForm]

  /// The dialect of the provider.
  let dialect: OIDCDialect
  /// The client's name.
  let clientID: String
  /// The client authentication.
  let clientAuthentication: OIDCDialect.ClientAuthentication
  /// The redirect address of browser logins.
  let redirect: LoopbackRedirect
  /// Finds the endpoints.
  let discovery: Discovery
  /// Sends the requests that need no session: all that get tokens.
  let caller: TokenCaller
  /// Gets assertions of other parties.
  let assertions: AssertionReader
  /// Sends the requests that need a session.
  let sessionTransport: AuthenticatedTransport
  /// Makes the proofs for tokens that are bound to a key.
  let proofs: ProofBench
  /// The sockets that browsers are awaited on.
  let listeners: RedirectListeners
  /// The time.
  let clock: Clock

  /// A provider; nothing is sent yet.
  ///
  /// - Parameters:
  ///   - configuration: where the provider is and how it is spoken to.
  ///   - client: sends the requests; shared by all providers of a process, and closed by its creator.
  ///   - secrets: finds the client's password, or its assertion or key, when it is needed.
  ///   - clock: the wall clock, unless a test says otherwise.
  ///   - uptime: the clock of the machine's start, likewise.
  /// - Throws: `HTTPFailure.invalidURL` for an address that is not called.
  package convenience init(
    _ configuration: OIDCProfileConfiguration, client: HTTPClient, secrets: @escaping SecretFinder,
    clock: @escaping Clock = { Timestamp(milliseconds: WallClock.milliseconds) },
    uptime: @escaping @Sendable () -> Duration = { BootClock.now }
  ) throws(HTTPFailure) {
    let transport = PublicTransport(client, policy: configuration.tls)
    try self.init(
      configuration, client: client, secrets: secrets, clock: clock,
      discovery: Discovery(configuration.dialect, transport, uptime))
  }

  /// A provider whose endpoints are found by `discovery`, for other profiles as well.
  ///
  /// - Throws: `HTTPFailure.invalidURL` for an address that is not called.
  init(
    _ configuration: OIDCProfileConfiguration, client: HTTPClient, secrets: @escaping SecretFinder,
    clock: @escaping Clock = { Timestamp(milliseconds: WallClock.milliseconds) }, discovery: Discovery,
    listeners: RedirectListeners = RedirectListeners(), proofs: ProofBench? = nil
  ) throws(HTTPFailure) {
    self.listeners = listeners
    let proofs = proofs ?? ProofBench(clock)
    self.proofs = proofs
    dialect = configuration.dialect
    clientID = configuration.clientID
    clientAuthentication = configuration.hasProof ? configuration.clientAuthentication : .none
    redirect = configuration.redirect
    binding = try Self.binding(configuration)
    loginForms = configuration.dialect.methods.map { LoginForm($0) }
    let transport = PublicTransport(client, policy: configuration.tls)
    self.discovery = discovery
    let authenticator = ClientAuthenticator(configuration, secrets, client, clock)
    assertions = authenticator.reader
    caller = TokenCaller(configuration, authenticator, transport, proofs, clock)
    sessionTransport = AuthenticatedTransport(client, policy: configuration.tls)
    self.clock = clock
  }

  /// The address of an endpoint that must be there.
  ///
  /// - Throws: `.unsupported` where the provider has none; what ``Discovery`` throws.
  func endpoint(_ endpoint: OIDCEndpoint) async throws(ProviderFailure) -> HTTPURL {
    guard let url = try await discovery.endpoint(endpoint) else { throw .unsupported }
    return url
  }

  /// Sends a request to an endpoint, as ``TokenCaller/ask(_:_:_:as:key:)`` does; where nothing is there any more, the next
  /// call discovers it again.
  func ask(
    _ purpose: OAuthPurpose, _ url: HTTPURL, _ form: TokenCaller.Form, as encoding: TokenCaller.Encoding = .form,
    key: ProofKey? = nil
  ) async throws(ProviderFailure) -> OAuthReply {
    do throws(ProviderFailure) {
      let reply = try await caller.ask(purpose, url, form, as: encoding, key: key)
      if reply.isNowhere { await discovery.mistrust(url) }
      return reply
    } catch {
      if case .transient(let kind, _, _) = error, kind == .networkUnavailable || kind == .tlsFailed {
        await discovery.mistrust(url)
      }
      throw error
    }
  }
}
