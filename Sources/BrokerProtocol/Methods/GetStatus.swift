public import JSONRPC

/// Tells how the broker itself is doing.
public enum GetStatus: BrokerMethod {
  /// The name on the wire.
  public static let name = "getStatus"
  /// What a request carries.
  public typealias Params = Empty

  /// Where the vault stands.
  public struct VaultStatus: JSONEncodable, JSONDecodable, Sendable, Equatable {
    /// Whether its key is missing.
    public var locked: Bool
    /// Where its key comes from.
    public var keySource: String
    /// The version of its tables.
    public var schemaVersion: Int
    /// Whether it has a key yet; false while a new vault waits for its first passphrase.
    public var isInitialized: Bool
    /// Whether it would be noticed that the whole vault was replaced by an older copy.
    public var noticesRollback: Bool

    /// The vault's state.
    public init(
      locked: Bool, keySource: String, schemaVersion: Int, isInitialized: Bool = true, noticesRollback: Bool = false
    ) {
      self.locked = locked
      self.keySource = keySource
      self.schemaVersion = schemaVersion
      self.isInitialized = isInitialized
      self.noticesRollback = noticesRollback
    }

    /// Writes the members.
    public func encode(to writer: inout JSONWriter) {
      writer.object { writer in
        writer.member("locked", locked)
        writer.member("keySource", keySource)
        writer.member("schemaVersion", schemaVersion)
        writer.member("initialized", isInitialized)
        writer.member("noticesRollback", noticesRollback)
      }
    }

    /// Reads the members.
    public init(from node: JSONNode) throws(JSONMismatch) {
      locked = try node.required("locked").bool()
      keySource = try node.required("keySource").string()
      schemaVersion = try Int(from: try node.required("schemaVersion"))
      isInitialized = try node.optional("initialized", Bool.init(from:)) ?? true
      noticesRollback = try node.optional("noticesRollback", Bool.init(from:)) ?? false
    }
  }

  /// What the answer carries.
  public struct Result: JSONEncodable, JSONDecodable, Sendable, Equatable {
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
    /// Where the vault stands.
    public var vault: VaultStatus
    /// How many connections are open.
    public var connections: Int
    /// How many subscriptions they have.
    public var subscriptions: Int
    /// What was counted since the start, by name.
    public var counters: [Counter]
    /// How every limit stands; empty from a broker that does not tell.
    public var limits: [Limit]
    /// Where every profile stands.
    public var profiles: [Session]

    /// A result with its members.
    public init(
      version: String, pid: Int, startedAt: Timestamp, configurationReadAt: Timestamp? = nil, uptime: Duration,
      vault: VaultStatus, connections: Int, subscriptions: Int, counters: [Counter], limits: [Limit] = [],
      profiles: [Session]
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
      self.profiles = profiles
    }

    /// Writes the members.
    public func encode(to writer: inout JSONWriter) {
      writer.object { writer in
        writer.member("version", version)
        writer.member("pid", pid)
        writer.member("startedAt", startedAt)
        writer.member(ifPresent: "configurationReadAt", configurationReadAt)
        writer.seconds("uptimeSeconds", uptime)
        writer.member("vault", vault)
        writer.member("connections", connections)
        writer.member("subscriptions", subscriptions)
        writer.key("counters")
        writer.object { writer in
          for counter in counters { writer.member(counter.name, counter.value) }
        }
        writer.member("limits", limits)
        writer.member("profiles", profiles)
      }
    }

    /// Reads the members.
    public init(from node: JSONNode) throws(JSONMismatch) {
      version = try node.required("version").string()
      pid = try Int(from: try node.required("pid"))
      startedAt = try Timestamp(from: try node.required("startedAt"))
      configurationReadAt = try node.optional("configurationReadAt", Timestamp.init(from:))
      uptime = try node.required("uptimeSeconds").seconds()
      vault = try VaultStatus(from: try node.required("vault"))
      connections = try Int(from: try node.required("connections"))
      subscriptions = try Int(from: try node.required("subscriptions"))
      counters = []
      for (name, value) in try node.required("counters").members() {
        counters.append(Counter(name: name, value: try Int(from: value)))
      }
      limits = try node.optional("limits", [Limit].init(from:)) ?? []
      profiles = try [Session](from: try node.required("profiles"))
    }
  }

  /// One limit of what clients may cost the broker.
  public struct Limit: JSONEncodable, JSONDecodable, Sendable, Equatable {
    /// Its key in the section `limits` of the configuration; the name tells the unit.
    public var name: String
    /// What has this budget: `message`, `connection`, `account`, `provider`, `profile` or `broker` (all clients together).
    public var scope: String
    /// The present number.
    public var value: Double
    /// How much of it is in use, where it is one budget for all clients.
    public var used: Int?
    /// How often it refused something since the start.
    public var refused: Int

    /// A limit.
    public init(name: String, scope: String, value: Double, used: Int? = nil, refused: Int) {
      self.name = name
      self.scope = scope
      self.value = value
      self.used = used
      self.refused = refused
    }

    /// Writes the members.
    public func encode(to writer: inout JSONWriter) {
      writer.object { writer in
        writer.member("name", name)
        writer.member("scope", scope)
        writer.key("value")
        writer.number(value)
        writer.member(ifPresent: "used", used)
        writer.member("refused", refused)
      }
    }

    /// Reads the members.
    public init(from node: JSONNode) throws(JSONMismatch) {
      name = try node.required("name").string()
      scope = try node.required("scope").string()
      value = try node.required("value").number()
      used = try node.optional("used", Int.init(from:))
      refused = try Int(from: try node.required("refused"))
    }
  }

  /// One thing that is counted; its name carries no identifier.
  public struct Counter: Sendable, Equatable {
    /// What is counted.
    public var name: String
    /// How often it happened.
    public var value: Int

    /// A count.
    public init(name: String, value: Int) {
      self.name = name
      self.value = value
    }
  }
}
