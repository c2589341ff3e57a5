public import JSON

/// A limited socket.
public struct LimitedSocketState: ObjectCodable, Equatable {
  /// Its id, or its name in the configuration.
  public var socketID: String
  /// Its path.
  public var path: String
  /// The profiles that exist for its clients.
  public var profiles: [ProfileName]
  /// The methods that they may call; absent for all that need no proof.
  public var methods: [String]?
  /// The scopes that tokens may have; absent for any.
  public var scopes: [String]?
  /// The audiences that tokens may be for; absent for any.
  public var audiences: [String]?
  /// Whether a client may hold tokens, or only use them.
  public var may: String
  /// How many connections came by it and are open.
  public var connections: Int
  /// When it is closed; absent for one of the configuration.
  public var expiresAt: Timestamp?
  /// Why it cannot be used; absent where it listens.
  public var problem: String?

  public init(
    socketID: String, path: String, profiles: [ProfileName], methods: [String]? = nil, scopes: [String]? = nil,
    audiences: [String]? = nil, may: String, connections: Int, expiresAt: Timestamp? = nil, problem: String? = nil
  ) {
    self.socketID = socketID
    self.path = path
    self.profiles = profiles
    self.methods = methods
    self.scopes = scopes
    self.audiences = audiences
    self.may = may
    self.connections = connections
    self.expiresAt = expiresAt
    self.problem = problem
  }

  public static let blank = LimitedSocketState(socketID: "", path: "", profiles: [], may: "", connections: 0)

  public mutating func code(_ coder: inout some ObjectCoder) throws(JSONMismatch) {
    try coder.required("socketId", &socketID, .word)
    try coder.required("path", &path)
    try coder.required("profiles", &profiles)
    try coder.optional("methods", &methods)
    try coder.optional("scopes", &scopes)
    try coder.optional("audiences", &audiences)
    try coder.required("may", &may, .word(of: ["hold", "use"]))
    try coder.required("connections", &connections, .count)
    try coder.optional("expiresAt", &expiresAt)
    try coder.optional("problem", &problem)
  }
}
