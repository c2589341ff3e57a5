import BrokerCore
import BrokerProtocol
import Configuration
import HTTP
import LinuxSystem
import LocalProvider
import Logging
import OIDCProvider
import ProviderKit
import Sealing
import StateDirectory

/// Makes providers from the configuration.
///
/// The core knows none of them by name. Confined to the daemon's actor.
final class ProviderCatalog {
  /// A provider of one profile, and what it was made from.
  private struct Remote {
    let configuration: any RemoteConfiguration
    let network: NetworkConfiguration
    let provider: any AuthProvider
  }

  /// The key that the embedded provider seals its keys with: asked for each time, nil while the vault is locked.
  let vaultKey = VaultKey()

  private let stateDirectory: String
  private let environment: [String: String]
  private let secrets: ClientSecrets
  /// The clients that the broker has registered by itself.
  private let registrations: RegisteredClients
  private let sealedClients: SealedClients
  private let log: Logger
  private let fleet: FleetMembership
  private var local: LocalProvider?
  /// The certificate authorities trusted beside the system's, and whether they could be read; empty where no profile
  /// asks a server.
  private(set) var authorities: [GetStatus.Authority] = []
  /// Sends the embedded provider's messages.
  private let delivery: Delivery
  private var remotes: [ProfileName: Remote] = [:]
  /// One for each way into the network that was configured since the start; usually one, or none.
  private var clients: [(network: NetworkConfiguration, client: HTTPClient)] = []
  /// The same for the requests of clients: whatever they send, and however long that takes, it takes no turn of a refresh, and
  /// no time of its thread.
  private var requestClients: [(network: NetworkConfiguration, client: HTTPClient)] = []
  /// The same for mails: a mail server may keep a client's thread waiting.
  private var mailClients: [(network: NetworkConfiguration, client: HTTPClient)] = []

  /// A catalog whose embedded provider keeps its files in a state directory.
  ///
  /// `environment` is what the process was started with: proxies and clients' passwords may be named there.
  init(stateDirectory: String, environment: [String: String], log: Logger) {
    self.stateDirectory = stateDirectory
    self.log = log
    self.environment = environment
    secrets = ClientSecrets(environment: environment)
    fleet = FleetMembership(secrets, log)
    let vaultKey = vaultKey
    sealedClients = SealedClients(stateDirectory: stateDirectory) { vaultKey.key }
    registrations = RegisteredClients(sealedClients)
    delivery = Delivery { channel, reason in
      log.warning("a message was not sent", .word("channel", channel.rawValue), .word("reason", reason))
    }
  }

  /// The accounts of the embedded provider, for the owner of the state directory; nil where no profile has used it since
  /// the start.
  var directory: (any AccountDirectory)? { local }

  /// The core's settings for the configured profiles.
  ///
  /// All profiles on the embedded provider share one; a remote one stays the same for as long as its profile does.
  ///
  /// - Throws: `StartFailure` for what cannot be used although it is well-formed; nothing has changed then.
  func settings(for configuration: BrokerConfiguration) throws(StartFailure) -> [ProfileSettings] {
    var profiles: [ProfileSettings] = []
    var used: [ProfileName: Remote] = [:]
    for profile in configuration.profiles {
      let provider: any AuthProvider
      switch profile.provider {
      case .local: provider = try localProvider(configuration)
      case .remote(let remote):
        provider = try remoteProvider(profile.name, remote, configuration.network, &used)
      }
      var settings = ProfileSettings(
        name: profile.name, provider: provider, rules: profile.rules, allowsIDToken: profile.allowIDToken)
      if let rules = profile.requests {
        settings.requests = RequestSettings(rules, ProfileRequests(try requestTransport(configuration.network)))
      }
      profiles.append(settings)
    }
    fleet.adopt(configuration, &profiles)
    remotes = used
    noteAuthorities(clients.isEmpty ? AddedAuthorities() : AddedAuthorities(configuration.network, environment))
    return profiles
  }

  /// Checks whether the certificate authorities can be read; an unreadable one adds no trust, and everything else goes
  /// on.
  private func noteAuthorities(_ added: AddedAuthorities) {
    authorities = added.reports
    for place in authorities where !place.isReadable {
      log.warning(
        "trusted authorities cannot be read", .word("setting", place.source), .word("path", place.path))
    }
  }

  private func localProvider(_ configuration: BrokerConfiguration) throws(StartFailure) -> LocalProvider {
    let (log, vaultKey) = (log, vaultKey)
    let provider =
      local
      ?? LocalProvider(
        stateDirectory: stateDirectory, configuration: configuration.local, delivery: delivery,
        sealingKey: { vaultKey.key }, hasEnded: { log.write($0) })
    do throws(Errno) { try provider.startThread() } catch { throw StartFailure(noThread: error) }
    try prepareDelivery(configuration)
    // A reload takes the new ways over with `update`.
    if local == nil { useDelivery(configuration) }
    local = provider
    return provider
  }

  /// Makes the clients that messages are sent with, unless all messages went to the outbox so far.
  private func prepareDelivery(_ configuration: BrokerConfiguration) throws(StartFailure) {
    guard configuration.local.delivery != DeliveryConfiguration() || !mailClients.isEmpty else { return }
    do throws(Errno) { try secrets.startThread() } catch { throw StartFailure(noThread: error) }
    _ = try client(configuration.network, among: &mailClients)
    _ = try client(configuration.network, among: &clients)
  }

  /// Sends messages as a configuration says, for which `prepareDelivery` was called.
  private func useDelivery(_ configuration: BrokerConfiguration) {
    let network = configuration.network
    guard let mailClient = mailClients.first(where: { $0.network == network })?.client,
      let formClient = clients.first(where: { $0.network == network })?.client
    else { return }
    let secrets = secrets
    let means = Delivery.Means(
      mailClient: mailClient, formClient: formClient, secrets: { await secrets.find($0) }, environment: environment)
    delivery.use(configuration.local.delivery, with: means)
  }

  /// The provider of a profile: the same as before where its configuration is the same.
  private func remoteProvider(
    _ profile: ProfileName, _ configuration: any RemoteConfiguration, _ network: NetworkConfiguration,
    _ used: inout [ProfileName: Remote]
  ) throws(StartFailure) -> any AuthProvider {
    if let same = remotes[profile], same.configuration.isSame(as: configuration), same.network == network {
      used[profile] = same
      return same.provider
    }
    let client = try client(network, among: &clients)
    do throws(Errno) { try secrets.startThread() } catch { throw StartFailure(noThread: error) }
    do throws(HTTPFailure) {
      let secrets = secrets
      let provider = try configuration.makeProvider(
        client: client, secrets: { await secrets.find($0) }, clients: registrations)
      used[profile] = Remote(configuration: configuration, network: network, provider: provider)
      return provider
    } catch .overloaded {
      throw StartFailure(noThread: .again)
    } catch {
      throw StartFailure(
        kind: .configInvalid,
        message: "the profile \(profile) cannot be used: \(error); check its addresses, tls and mapping")
    }
  }

  /// The HTTP client for these network settings: one for all profiles that have them, with a thread and connections of
  /// its own from the first request on.
  private func client(
    _ network: NetworkConfiguration, among clients: inout [(network: NetworkConfiguration, client: HTTPClient)],
    _ limits: HTTPLimits = HTTPLimits()
  ) throws(StartFailure) -> HTTPClient {
    if let known = clients.first(where: { $0.network == network }) { return known.client }
    let proxy: ProxySetting
    do throws(HTTPFailure) {
      proxy = try ProxySetting(network, environment)
    } catch {
      throw StartFailure(
        kind: .configInvalid,
        message: "the proxy cannot be used; check network.proxy in the configuration, then https_proxy")
    }
    let added = AddedAuthorities(network, environment)
    do throws(Errno) {
      let log = log
      let client = try HTTPClient(version: ProgramVersion.number, proxy: proxy, authorities: added, limits: limits) {
        log.write($0)
      }
      clients.append((network, client))
      return client
    } catch {
      throw StartFailure(kind: .failed, message: "no requests can be sent: \(error)")
    }
  }

  /// The transport of requests with a profile's token to servers that are not its provider's.
  func requestTransport(_ network: NetworkConfiguration) throws(StartFailure) -> AuthenticatedTransport {
    AuthenticatedTransport(try client(network, among: &requestClients, .forClients))
  }

  /// The outcomes of the embedded provider's deliveries.
  var deliveryReports: @Sendable () -> [GetStatus.Delivery] {
    let delivery = delivery
    return { delivery.reports.map { GetStatus.Delivery($0) } }
  }

  /// Lets the embedded provider, where a profile has it, remove the messages of an earlier process in time.
  ///
  /// Nothing waits for it.
  func start() {
    guard let local else { return }
    Task(executorPreference: TaskThread.shared) { await local.start() }
  }

  /// Adopts a configuration's settings for the providers themselves.
  func update(to configuration: BrokerConfiguration) async {
    await local?.update(configuration.local)
    useDelivery(configuration)
  }

  /// Sends no request any more that spends something; those that are sent go on.
  ///
  /// Those of clients, also by doors, are among them: one that changes something, and is cut off by the end of the broker, may
  /// have been acted on or not.
  func stopSpending() {
    for (_, client) in clients + requestClients { client.stopSpending() }
  }

  /// Closes the connections and files of the providers.
  func close() async {
    delivery.close()
    for (_, client) in clients + requestClients + mailClients { await client.close() }
    await local?.shutDown()
    await fleet.close()
    await secrets.shutDown()
    await sealedClients.shutDown()
  }
}
