public import JSON

/// Returns the status of the broker itself.
public enum GetStatus: BrokerMethod {
  public static let name = "getStatus"
  public typealias Params = Empty

  /// The state of the vault.
  public struct VaultStatus: ObjectCodable, Equatable {
    /// Whether its key is missing.
    public var locked: Bool
    /// Its key source.
    public var keySource: String
    /// The version of its tables.
    public var schemaVersion: Int
    /// Whether it has a key yet; false while a new vault waits for its first passphrase.
    public var isInitialized: Bool
    /// Whether a rollback of the whole vault to an older copy would be detected.
    public var noticesRollback: Bool
    /// Whether the vault may be an older copy: sessions are refreshed when their access tokens expire.
    public var mayBeOlder: Bool
    /// The file of the vault, in which the tokens of all profiles rest, encrypted; absent for a client to which profiles
    /// are hidden.
    public var path: String?

    public init(
      locked: Bool, keySource: String, schemaVersion: Int, isInitialized: Bool = true, noticesRollback: Bool = false,
      mayBeOlder: Bool = false, path: String? = nil
    ) {
      self.locked = locked
      self.keySource = keySource
      self.schemaVersion = schemaVersion
      self.isInitialized = isInitialized
      self.noticesRollback = noticesRollback
      self.mayBeOlder = mayBeOlder
      self.path = path
    }

    public static let blank = VaultStatus(locked: false, keySource: "", schemaVersion: 0)

    public mutating func code(_ coder: inout some ObjectCoder) throws(JSONMismatch) {
      try coder.required("locked", &locked)
      try coder.required("keySource", &keySource)
      try coder.required("schemaVersion", &schemaVersion, .count)
      try coder.defaulted("initialized", &isInitialized)
      try coder.defaulted("noticesRollback", &noticesRollback)
      try coder.defaulted("mayBeOlder", &mayBeOlder)
      try coder.optional("path", &path)
    }
  }

  public struct Result: ObjectCodable, Equatable {
    /// The broker's version.
    public var version: String
    /// The broker's process.
    public var pid: Int
    /// When it started.
    public var startedAt: Timestamp
    /// When the configuration in use was last read; nil from a broker that does not say.
    public var configurationReadAt: Timestamp?
    /// How long it has been up, suspended time included.
    public var uptime: Duration
    /// The state of the vault.
    public var vault: VaultStatus
    /// How many connections are open.
    public var connections: Int
    /// How many subscriptions they have.
    public var subscriptions: Int
    /// The counters since the start, by name.
    public var counters: [Counter]
    /// The state of every limit; empty from a broker that does not report them.
    public var limits: [Limit]
    /// The embedded provider's channels for messages; a channel is listed once it was used.
    public var delivery: [Delivery]
    /// The certificate authorities trusted beside the system's, by the profiles that name none of their own.
    public var authorities: [Authority]
    /// The limited sockets.
    public var sockets: [Socket]
    /// Sessions that changes of the configuration have signed out; they come back with it.
    public var parkedSessions: [ParkedSession]
    /// The addresses of the providers, by profile; one on this machine has none.
    public var addresses: [ProfileAddress]
    /// The session of every profile.
    public var profiles: [Session]

    public init(
      version: String, pid: Int, startedAt: Timestamp, configurationReadAt: Timestamp? = nil, uptime: Duration,
      vault: VaultStatus, connections: Int, subscriptions: Int, counters: [Counter], limits: [Limit] = [],
      delivery: [Delivery] = [], authorities: [Authority] = [], sockets: [Socket] = [],
      parkedSessions: [ParkedSession] = [], addresses: [ProfileAddress] = [], profiles: [Session]
    ) {
      self.version = version
      self.pid = pid
      self.startedAt = startedAt
      self.configurationReadAt = configurationReadAt
      self.uptime = uptime
      self.vault = vault
      self.connections = connections
      self.subscriptions = subscriptions
      self.counters = counters
      self.limits = limits
      self.delivery = delivery
      self.authorities = authorities
      self.sockets = sockets
      self.parkedSessions = parkedSessions
      self.addresses = addresses
      self.profiles = profiles
    }

    public static let blank = Result(
      version: "", pid: 0, startedAt: .epoch, uptime: .zero, vault: .blank, connections: 0, subscriptions: 0,
      counters: [], profiles: [])

    public mutating func code(_ coder: inout some ObjectCoder) throws(JSONMismatch) {
      try coder.required("version", &version)
      try coder.required("pid", &pid, .count)
      try coder.required("startedAt", &startedAt)
      try coder.optional("configurationReadAt", &configurationReadAt)
      try coder.required("uptimeSeconds", &uptime, .seconds)
      try coder.required("vault", &vault)
      try coder.required("connections", &connections, .count)
      try coder.required("subscriptions", &subscriptions, .count)
      try coder.required("counters", &counters, CounterCoding())
      try coder.defaulted("limits", &limits)
      try coder.defaulted("delivery", &delivery)
      try coder.defaulted("authorities", &authorities)
      try coder.defaulted("sockets", &sockets)
      try coder.defaulted("parkedSessions", &parkedSessions)
      try coder.defaulted("addresses", &addresses)
      try coder.required("profiles", &profiles)
    }
  }

  /// One limit of what clients may cost the broker.
  public struct Limit: ObjectCodable, Equatable {
    /// Its name, whose end tells the unit; its key in the section `limits` where the configuration can change it.
    public var name: String
    /// The unit of this budget: `message`, `connection`, `account`, `provider`, `profile` or `broker` (all clients
    /// together).
    public var scope: String
    /// The present number.
    public var value: Double
    /// How much of it is in use, where it is one budget for all clients.
    public var used: Int?
    /// How often it refused something since the start.
    public var refused: Int

    public init(name: String, scope: String, value: Double, used: Int? = nil, refused: Int) {
      self.name = name
      self.scope = scope
      self.value = value
      self.used = used
      self.refused = refused
    }

    public static let blank = Limit(name: "", scope: "", value: 0, refused: 0)

    public mutating func code(_ coder: inout some ObjectCoder) throws(JSONMismatch) {
      try coder.required("name", &name)
      let scopes = ["message", "connection", "account", "provider", "profile", "broker"]
      try coder.required("scope", &scope, .word(of: scopes))
      try coder.required("value", &value, .number)
      try coder.optional("used", &used, .count)
      try coder.required("refused", &refused, .count)
    }
  }

  /// One thing that is counted; its name carries no identifier.
  public struct Counter: Sendable, Equatable {
    /// The name of the counter.
    public var name: String
    /// How often it happened.
    public var value: Int

    public init(name: String, value: Int) {
      self.name = name
      self.value = value
    }
  }

  /// Counts as the members of an object.
  private struct CounterCoding: ValueCoding {
    func write(_ value: [Counter], to writer: inout JSONWriter) {
      writer.object { writer in
        for counter in value { writer.member(counter.name, counter.value) }
      }
    }

    func read(_ node: JSONNode) throws(JSONMismatch) -> [Counter] {
      var counters: [Counter] = []
      for (name, value) in try node.members() {
        counters.append(Counter(name: name, value: try Int(from: value)))
      }
      return counters
    }
  }
}
