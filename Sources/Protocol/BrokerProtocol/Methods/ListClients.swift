public import JSON

/// Returns open connections, each with the process behind it: so many at a time that no other client waits for them.
public enum ListClients: BrokerMethod {
  public static let name = "listClients"

  public struct Params: MethodParams, Equatable {
    /// The number of the connection behind which the list goes on; nil begins it.
    public var after: Int?

    /// Parameters of these members.
    public init(after: Int? = nil) { self.after = after }

    public static let blank = Params()

    public mutating func code(_ coder: inout some ObjectCoder) throws(JSONMismatch) {
      try coder.optional("after", &after, .count)
    }
  }

  public struct Result: ObjectCodable, Equatable {
    /// The connections, the oldest first; 50 at most.
    public var clients: [ClientConnection]
    /// How many more there are behind these.
    public var omitted: Int

    /// A result of these members.
    public init(clients: [ClientConnection], omitted: Int = 0) { (self.clients, self.omitted) = (clients, omitted) }

    public static let blank = Result(clients: [])

    public mutating func code(_ coder: inout some ObjectCoder) throws(JSONMismatch) {
      try coder.required("clients", &clients)
      try coder.defaulted("omitted", &omitted, .count)
    }
  }

  /// One connection.
  public struct ClientConnection: ObjectCodable, Equatable {
    /// Its number, as in the log.
    public var connection: Int
    /// The way that it came by: `socket`, `activation`, `stdio`, `pair` or `limited`.
    public var entrance: String
    /// The name of the limited socket that it came by.
    public var socket: String?
    /// The user of its process; nil where the kernel was not asked.
    public var uid: Int?
    /// The name of that user; nil where it has none here.
    public var user: String?
    /// Its process; nil for one in another PID namespace.
    public var pid: Int?
    /// The name of the program that the process executes, as far as it can be read: shown, and deciding nothing.
    public var command: String?
    /// Its systemd unit, with `user/` in front where a user's manager has made it.
    public var unit: String?
    /// The label that a security module gives it.
    public var label: String?
    /// The name that it gives itself; nil where it has given none.
    public var tool: String?
    /// When it connected.
    public var connectedAt: Timestamp
    /// Whether it has proven access to the state directory.
    public var isAdministrative: Bool
    /// How many of the configured profiles exist for it.
    public var profiles: Int

    /// A connection of these members.
    public init(
      connection: Int, entrance: String, socket: String? = nil, uid: Int? = nil, user: String? = nil, pid: Int? = nil,
      command: String? = nil, unit: String? = nil, label: String? = nil, tool: String? = nil, connectedAt: Timestamp,
      isAdministrative: Bool, profiles: Int
    ) {
      (self.connection, self.entrance, self.socket) = (connection, entrance, socket)
      (self.uid, self.user, self.pid, self.command) = (uid, user, pid, command)
      (self.unit, self.label, self.tool) = (unit, label, tool)
      (self.connectedAt, self.isAdministrative, self.profiles) = (connectedAt, isAdministrative, profiles)
    }

    public static let blank = ClientConnection(
      connection: 0, entrance: "", connectedAt: .epoch, isAdministrative: false, profiles: 0)

    public mutating func code(_ coder: inout some ObjectCoder) throws(JSONMismatch) {
      try coder.required("connection", &connection, .count)
      let entrances = ["socket", "activation", "stdio", "pair", "limited"]
      try coder.required("entrance", &entrance, .word(of: entrances))
      try coder.optional("socket", &socket)
      try coder.optional("uid", &uid, .count)
      try coder.optional("user", &user)
      try coder.optional("pid", &pid, .count)
      try coder.optional("command", &command)
      try coder.optional("unit", &unit)
      try coder.optional("label", &label)
      try coder.optional("tool", &tool)
      try coder.required("connectedAt", &connectedAt)
      try coder.required("administrative", &isAdministrative)
      try coder.required("profiles", &profiles, .count)
    }
  }
}
