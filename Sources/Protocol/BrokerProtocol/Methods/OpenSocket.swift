public import JSON

/// Opens a limited socket: one that gives its clients some profiles only, until its time is over, closeSocket, or the end
/// of the broker.
///
/// It gives what an entry of the section sockets of the configuration with the same members gives, and is checked in the
/// same way; in rules (section access) its name is its id. A reload keeps it, without the profiles that are not configured
/// any more. As long as it is open, a broker that was started on demand stays. 64 of them can be open.
///
/// - Throws: accessDenied.
public enum OpenSocket: BrokerMethod {
  public static let name = "openSocket"

  public struct Params: MethodParams, Equatable {
    /// The profiles that exist for its clients.
    public var profiles: [ProfileName]
    /// The methods that they may call; all that need no proof where absent.
    public var methods: [String]?
    /// The scopes that tokens may have.
    public var scopes: [String]?
    /// The audiences that tokens may be for.
    public var audiences: [String]?
    /// Whether a client may hold tokens, or only use them; hold where absent.
    public var may: String?
    /// Whether consents are remembered for an ssh that forwards the socket, and so for all programs behind it; false where
    /// absent.
    public var remember: Bool?
    /// The users whose processes may connect, by name or number, or subuid for the owner's range of subuid(5); the owner
    /// alone where absent.
    public var users: [String]?
    /// The group that the socket belongs to, by name or number.
    public var group: String?
    /// How long it is open, from 1 second to 30 days.
    public var lifetime: Duration
    /// Its absolute path, at which there is nothing yet, in a directory that exists; absent: one alone in its directory,
    /// beside the broker's own socket.
    public var path: String?
    /// Its permissions: 0600 where absent, 0660 with a group.
    public var mode: String?
    /// Whether it ends with the connection that has opened it, if that is before its time; false where absent.
    public var whileConnected: Bool?

    public init(
      profiles: [ProfileName], methods: [String]? = nil, scopes: [String]? = nil, audiences: [String]? = nil,
      may: String? = nil, remember: Bool? = nil, users: [String]? = nil, group: String? = nil, lifetime: Duration,
      path: String? = nil, mode: String? = nil, whileConnected: Bool? = nil
    ) {
      self.profiles = profiles
      self.methods = methods
      self.scopes = scopes
      self.audiences = audiences
      self.may = may
      self.remember = remember
      self.users = users
      self.group = group
      self.lifetime = lifetime
      self.path = path
      self.mode = mode
      self.whileConnected = whileConnected
    }

    public static let blank = Params(profiles: [], lifetime: .zero)

    public mutating func code(_ coder: inout some ObjectCoder) throws(JSONMismatch) {
      try coder.required("profiles", &profiles)
      try coder.optional("methods", &methods)
      try coder.optional("scopes", &scopes)
      try coder.optional("audiences", &audiences)
      try coder.optional("may", &may, .word(of: ["hold", "use"]))
      try coder.optional("remember", &remember)
      try coder.optional("uids", &users, .list(of: .user))
      try coder.optional("group", &group, .word)
      try coder.required("lifetimeSeconds", &lifetime, .seconds)
      try coder.optional("path", &path, .text(atMost: ParameterLength.path))
      try coder.optional("mode", &mode, .word)
      try coder.optional("whileConnected", &whileConnected)
    }
  }

  public struct Result: ObjectCodable, Equatable {
    /// The id of the socket, for closeSocket.
    public var socketID: String
    /// The path of the socket.
    public var path: String

    public init(socketID: String, path: String) {
      self.socketID = socketID
      self.path = path
    }

    public static let blank = Result(socketID: "", path: "")

    public mutating func code(_ coder: inout some ObjectCoder) throws(JSONMismatch) {
      try coder.required("socketId", &socketID, .word)
      try coder.required("path", &path)
    }
  }
}

/// A user of the machine: a name, or a whole number, which may stand in a string too.
public struct UserCoding: ValueCoding {
  public func write(_ value: String, to writer: inout JSONWriter) {
    if let number = UInt32(value) { writer.integer(Int64(number)) } else { writer.string(value) }
  }

  public func read(_ node: JSONNode) throws(JSONMismatch) -> String {
    guard node.kind == .integer || node.kind == .number else { return try node.word() }
    let number = try node.integer()
    guard let user = UInt32(exactly: number) else { throw node.mismatch("the number of a user") }
    return String(user)
  }
}

extension ValueCoding where Self == UserCoding {
  /// A user by name or number.
  public static var user: UserCoding { UserCoding() }
}
