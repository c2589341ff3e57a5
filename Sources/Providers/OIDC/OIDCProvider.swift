package import BrokerCore
package import BrokerProtocol
package import HTTP
import LinuxSystem
import SecretMemory

/// A provider that speaks OpenID Connect, or OAuth 2.0 without it.
///
/// It finds the provider's endpoints itself. No call is repeated that may have reached the provider, but for one that
/// only reads.
package final class OIDCProvider: AuthProvider {
  /// What time it is.
  package typealias Clock = @Sendable () -> Timestamp

  /// The provider's type, issuer and the client's name, and given endpoints that tokens are sent to.
  package let binding: ProviderBinding
  /// What the provider has an endpoint for, as far as that is known without asking it.
  package let abilities: Set<ProviderAbility>
  /// How sessions can be begun, as configured.
  package let loginMethods: [LoginMethod]
  /// What is known of none is taken for what most do: Auth0, Google and Keycloak end the user's other sessions of the
  /// client with a refresh token.
  package let revokesWholeGrants = true

  /// How the provider is spoken to.
  let dialect: OIDCDialect
  /// The client's name.
  let clientID: String
  /// How the client makes itself known.
  let clientAuthentication: OIDCDialect.ClientAuthentication
  /// Where a browser comes back to.
  let redirect: LoopbackRedirect
  /// Finds the endpoints.
  let discovery: Discovery
  /// Asks for what needs no session: all that gets tokens.
  let caller: TokenCaller
  /// Asks for what needs a session.
  let sessionTransport: AuthenticatedTransport
  /// The sockets that browsers are awaited on.
  let listeners = RedirectListeners()
  /// What time it is.
  let clock: Clock

  /// A provider; nothing is sent yet.
  ///
  /// - Parameters:
  ///   - settings: where the provider is and how it is spoken to.
  ///   - client: sends the requests; shared by all providers of a process, and closed by its creator.
  ///   - clock: the wall clock, unless a test says otherwise.
  ///   - uptime: the clock of the machine's start, likewise.
  /// - Throws: `HTTPFailure.invalidURL` for an address that is not called.
  package init(
    _ settings: OIDCProviderSettings, client: HTTPClient,
    clock: @escaping Clock = { Timestamp(milliseconds: WallClock.milliseconds) },
    uptime: @escaping @Sendable () -> Duration = { BootClock.now }
  ) throws(HTTPFailure) {
    dialect = settings.dialect
    clientID = settings.clientID
    clientAuthentication = settings.clientSecret == nil ? .none : settings.clientAuthentication
    redirect = settings.redirect
    binding = try Self.binding(settings)
    abilities = Self.abilities(settings.dialect)
    loginMethods = settings.dialect.methods
    let transport = PublicTransport(client, policy: settings.tls)
    discovery = try Discovery(settings.dialect, transport, uptime)
    caller = TokenCaller(settings, transport, clock)
    sessionTransport = AuthenticatedTransport(client, policy: settings.tls)
    self.clock = clock
  }

  /// What a provider can do by its dialect.
  package static func abilities(_ dialect: OIDCDialect) -> Set<ProviderAbility> {
    let user: Set<ProviderAbility> =
      dialect.usesDiscovery || dialect.endpoints[.userinfo] != nil ? [.getCurrentUser] : []
    return user.union(dialect.quirks.asksForSecondFactor ? [.resendOtp, .verifyBackupCode] : [])
  }

  /// The address of an endpoint that must be there.
  ///
  /// - Throws: `.unsupported` where the provider has none; what ``Discovery`` throws.
  func endpoint(_ endpoint: OIDCEndpoint) async throws(ProviderFailure) -> HTTPURL {
    guard let url = try await discovery.endpoint(endpoint) else { throw .unsupported }
    return url
  }

  /// Asks at an endpoint, as ``TokenCaller/ask(_:_:_:as:)`` does; one where nothing is any more is looked for again by the
  /// next call.
  func ask(
    _ purpose: OAuthPurpose, _ url: HTTPURL, _ form: TokenCaller.Form, as encoding: TokenCaller.Encoding = .form
  ) async throws(ProviderFailure) -> OAuthReply {
    do throws(ProviderFailure) {
      let reply = try await caller.ask(purpose, url, form, as: encoding)
      if reply.isNowhere { await discovery.mistrust(url) }
      return reply
    } catch {
      if case .transient(let kind, _) = error, kind == .networkUnavailable || kind == .tlsFailed {
        await discovery.mistrust(url)
      }
      throw error
    }
  }
}
