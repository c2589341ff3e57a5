public import JSONRPC

/// Introduces the two sides to each other; optional, any method may come first.
public enum Initialize: BrokerMethod {
  /// The name on the wire.
  public static let name = "initialize"

  /// The version of the contract that this code speaks.
  public static let protocolVersion = "1"

  /// A program and its version.
  public struct Program: JSONEncodable, JSONDecodable, Sendable, Equatable {
    /// The program's name.
    public var name: String
    /// The program's version.
    public var version: String?

    /// A program and its version.
    public init(name: String, version: String?) {
      self.name = name
      self.version = version
    }

    /// Writes the members that are set.
    public func encode(to writer: inout JSONWriter) {
      writer.object { writer in
        writer.member("name", name)
        writer.member(ifPresent: "version", version)
      }
    }

    /// Reads the members.
    public init(from node: JSONNode) throws(JSONMismatch) {
      name = try node.required("name").string()
      version = try node.optional("version", String.init(from:))
    }
  }

  /// What a request carries.
  public struct Params: MethodParams, Equatable {
    /// The names of all parameters.
    public static let memberNames = ["client", "protocolVersion"]

    /// Who asks.
    public var client: Program?
    /// The version that the caller speaks.
    public var protocolVersion: String?

    /// Params with the members that a caller gives.
    public init(client: Program? = nil, protocolVersion: String? = nil) {
      self.client = client
      self.protocolVersion = protocolVersion
    }

    /// Writes the members that are set.
    public func encode(to writer: inout JSONWriter) {
      writer.object { writer in
        writer.member(ifPresent: "client", client)
        writer.member(ifPresent: "protocolVersion", protocolVersion)
      }
    }

    /// Reads the members.
    public init(from node: JSONNode) throws(JSONMismatch) {
      client = try node.optional("client", Program.init(from:))
      protocolVersion = try node.optional("protocolVersion") { node throws(JSONMismatch) in try node.word() }
    }
  }

  /// A type of provider, and the methods that not every type has.
  public struct ProviderType: JSONEncodable, JSONDecodable, Sendable, Equatable {
    /// The type's name, as in the configuration.
    public var type: String
    /// The methods beyond login, tokens and logout that work on it.
    public var methods: [String]

    /// A type and its methods.
    public init(type: String, methods: [String]) {
      self.type = type
      self.methods = methods
    }

    /// Writes the members.
    public func encode(to writer: inout JSONWriter) {
      writer.object { writer in
        writer.member("type", type)
        writer.member("methods", methods)
      }
    }

    /// Reads the members.
    public init(from node: JSONNode) throws(JSONMismatch) {
      type = try node.required("type").string()
      methods = try [String](from: try node.required("methods"))
    }
  }

  /// What this broker can do.
  public struct Capabilities: JSONEncodable, JSONDecodable, Sendable, Equatable {
    /// The methods that work.
    public var methods: [String]
    /// The events that are published.
    public var events: [String]
    /// The framings that are understood.
    public var framings: [String]
    /// The types of provider that can be configured.
    public var providers: [ProviderType]

    /// The full list.
    public init(methods: [String], events: [String], framings: [String], providers: [ProviderType]) {
      self.methods = methods
      self.events = events
      self.framings = framings
      self.providers = providers
    }

    /// Writes the members.
    public func encode(to writer: inout JSONWriter) {
      writer.object { writer in
        writer.member("methods", methods)
        writer.member("events", events)
        writer.member("framings", framings)
        writer.member("providers", providers)
      }
    }

    /// Reads the members.
    public init(from node: JSONNode) throws(JSONMismatch) {
      methods = try [String](from: try node.required("methods"))
      events = try [String](from: try node.required("events"))
      framings = try [String](from: try node.required("framings"))
      providers = try [ProviderType](from: try node.required("providers"))
    }
  }

  /// What the answer carries.
  public struct Result: JSONEncodable, JSONDecodable, Sendable, Equatable {
    /// The version that the broker speaks.
    public var protocolVersion: String
    /// Who answers.
    public var server: Program
    /// What this broker can do.
    public var capabilities: Capabilities
    /// The state of every profile.
    public var sessions: [Session]
    /// The sequence at which `sessions` holds.
    public var sequence: Int

    /// A result with its members.
    public init(
      protocolVersion: String, server: Program, capabilities: Capabilities, sessions: [Session], sequence: Int
    ) {
      self.protocolVersion = protocolVersion
      self.server = server
      self.capabilities = capabilities
      self.sessions = sessions
      self.sequence = sequence
    }

    /// Writes the members.
    public func encode(to writer: inout JSONWriter) {
      writer.object { writer in
        writer.member("protocolVersion", protocolVersion)
        writer.member("server", server)
        writer.member("capabilities", capabilities)
        writer.member("sessions", sessions)
        writer.member("sequence", sequence)
      }
    }

    /// Reads the members.
    public init(from node: JSONNode) throws(JSONMismatch) {
      protocolVersion = try node.required("protocolVersion").string()
      server = try Program(from: try node.required("server"))
      capabilities = try Capabilities(from: try node.required("capabilities"))
      sessions = try [Session](from: try node.required("sessions"))
      sequence = try Int(from: try node.required("sequence"))
    }
  }
}
