package import BrokerCore
package import BrokerProtocol
import ConfigurationFile
package import HTTP
import LinuxSystem
package import ProviderKit
import SecretMemory
import Synchronization

/// A provider that is known by a protected resource, such as a server of the Model Context Protocol: the resource names its
/// authorization server (RFC 9728), and the client is registered there where the configuration names none.
///
/// It finds these and lets an ``OIDCProvider`` do the rest. A session's tokens name the client and the issuer that they are
/// of (``TokenClient``), and go to no other one, whatever the resource says later.
package final class ResourceProvider: AuthProvider {
  /// The type, the resource and the configured client.
  package let binding: ProviderBinding
  /// The login methods, as configured.
  package let loginForms: [LoginForm]
  /// The configured scopes; none where the resource says them.
  package var requestedScopes: [String] { configuration.dialect.scopes }

  /// The profile; its issuer is the resource until one is found.
  let configuration: OIDCProfileConfiguration
  /// The keys by which everything is found.
  let plan: ResourcePlan
  /// Sends requests that have no credential.
  let transport: PublicTransport
  /// The clients that the broker has registered.
  let clients: RegisteredClients
  /// Finds the resource's metadata.
  let search: ResourceSearch
  /// The sockets that browsers are awaited on.
  let listeners = RedirectListeners()
  /// Makes the proofs for tokens that are bound to a key.
  let proofs: ProofBench
  /// The time.
  let clock: OIDCProvider.Clock

  private let client: HTTPClient
  private let secrets: SecretFinder
  /// The metadata of the issuers that are in use.
  private let discoveries = Mutex<[String: Discovery]>([:])
  /// The same as a list.
  var knownDiscoveries: [Discovery] { discoveries.withLock { Array($0.values) } }
  /// The issuers of living sessions and the one that is found: more come only from a resource that changes its own often.
  private static let mostIssuers = 4

  /// A provider; nothing is sent yet.
  ///
  /// - Parameters:
  ///   - configuration: the profile.
  ///   - client: sends the requests.
  ///   - secrets: finds the configured client's password.
  ///   - clients: the registered clients.
  ///   - clock: the wall clock, unless a test says otherwise.
  ///   - uptime: the clock of the machine's start, likewise.
  /// - Throws: `HTTPFailure.invalidURL` for an address that is not called.
  package init(
    _ configuration: OIDCProfileConfiguration, client: HTTPClient, secrets: @escaping SecretFinder,
    clients: RegisteredClients,
    clock: @escaping @Sendable () -> Timestamp = { Timestamp(milliseconds: WallClock.milliseconds) },
    uptime: @escaping @Sendable () -> Duration = { BootClock.now }
  ) throws(HTTPFailure) {
    self.configuration = configuration
    plan = configuration.resourcePlan ?? ResourcePlan()
    binding = try OIDCProvider.binding(configuration)
    loginForms = configuration.dialect.methods.map { LoginForm($0) }
    transport = PublicTransport(client, policy: configuration.tls)
    search = ResourceSearch(configuration.dialect.issuer, transport, uptime)
    self.client = client
    self.secrets = secrets
    self.clients = clients
    self.clock = clock
    proofs = ProofBench(clock)
  }

  // MARK: What is found

  /// The profile as it is once an issuer is found.
  func resolved(_ client: TokenClient) -> OIDCProfileConfiguration {
    var found = configuration
    found.dialect.issuer = client.issuer
    found.dialect.resource = client.resource
    found.clientID = client.id
    return found
  }

  /// The metadata of an issuer, shared with all profiles on it.
  ///
  /// - Throws: `.misconfigured(.resource)` for an address that is not called.
  func discovery(of issuer: String) throws(ProviderFailure) -> Discovery {
    if let known = discoveries.withLock({ $0[issuer] }) { return known }
    do throws(HTTPFailure) {
      let dialect = resolved(TokenClient(issuer: issuer, id: "", resource: configuration.dialect.issuer)).dialect
      let discovery = try Discovery.shared(dialect, client, configuration.tls)
      discoveries.withLock { known in
        if known.count >= Self.mostIssuers { known = [:] }
        known[issuer] = discovery
      }
      return discovery
    } catch { throw error == .overloaded ? .transient(.overloaded) : .misconfigured(.resource) }
  }

  /// The provider of a client.
  ///
  /// - Parameters:
  ///   - client: the client, its issuer and its resource.
  ///   - registered: its registration; nil for one of the configuration, and where that is lost.
  ///   - change: changes what the provider is made from.
  /// - Returns: a provider of that client alone.
  /// - Throws: as ``discovery(of:)``.
  func provider(
    of client: TokenClient, _ registered: RegisteredClient?,
    _ change: (inout OIDCProfileConfiguration) -> Void = { _ in }
  ) throws(ProviderFailure) -> OIDCProvider {
    var found = resolved(client)
    var secrets = secrets
    if client.id != configuration.clientID || configuration.clientID.isEmpty {
      let secret = registered?.secret
      found.clientSecret = secret.map { _ in SecretReference("clientSecret", .environment("")) }
      found.clientAuthentication = registered?.authentication.configured ?? .none
      secrets = { _ in secret.map { .success($0) } ?? .failure(.misconfigured(.registration)) }
    }
    change(&found)
    let discovery = try discovery(of: client.issuer)
    do throws(HTTPFailure) {
      return try OIDCProvider(
        found, client: self.client, secrets: secrets, clock: clock, discovery: discovery, listeners: listeners,
        proofs: proofs)
    } catch { throw .misconfigured(.resource) }
  }

  /// The provider of a session's client.
  ///
  /// - Throws: `.misconfigured(.registration)` for tokens that name none; as ``RegisteredClients/client(_:at:)``.
  func provider(of client: TokenClient?) async throws(ProviderFailure) -> OIDCProvider {
    guard let client else { throw .misconfigured(.registration) }
    return try provider(of: client, try await registration(of: client))
  }

  private func registration(of client: TokenClient) async throws(ProviderFailure) -> RegisteredClient? {
    guard isRegistered(client) else { return nil }
    return try await clients.client(client.id, at: client.issuer)
  }

  /// Whether a client is neither configured nor known by its document.
  func isRegistered(_ client: TokenClient) -> Bool {
    client.id != configuration.clientID && client.id != plan.clientMetadataURL
  }
}

extension RegisteredClient.Authentication {
  /// The same as a profile says it.
  var configured: OIDCDialect.ClientAuthentication {
    switch self {
    case .none: .none
    case .basic: .basic
    case .post: .post
    }
  }
}
