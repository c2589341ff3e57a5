public import JSON
internal import JSONRPC

/// Exchanges names, versions and capabilities; optional, any method may come first.
///
/// - Throws: versionUnsupported.
public enum Initialize: BrokerMethod {
  public static let name = "initialize"

  /// The version of the contract that this code speaks.
  public static let protocolVersion = "1"

  /// A program and its version.
  public struct Program: ObjectCodable, Equatable {
    /// The program's name.
    public var name: String
    /// The program's version.
    public var version: String?

    public init(name: String, version: String?) {
      self.name = name
      self.version = version
    }

    public static let blank = Program(name: "", version: nil)

    public mutating func code(_ coder: inout some ObjectCoder) throws(JSONMismatch) {
      try coder.required("name", &name)
      try coder.optional("version", &version)
    }
  }

  public struct Params: MethodParams, Equatable {
    /// The client program.
    public var client: Program?
    /// The version that the caller speaks.
    public var protocolVersion: String?

    public init(client: Program? = nil, protocolVersion: String? = nil) {
      self.client = client
      self.protocolVersion = protocolVersion
    }

    public static let blank = Params()

    public mutating func code(_ coder: inout some ObjectCoder) throws(JSONMismatch) {
      try coder.optional("client", &client)
      try coder.optional("protocolVersion", &protocolVersion, .word)
    }
  }

  /// A type of provider, and the methods that not every type has.
  public struct ProviderType: ObjectCodable, Equatable {
    /// The type's name, as in the configuration.
    public var type: String
    /// The methods beyond login, tokens and logout that work on it.
    public var methods: [String]

    public init(type: String, methods: [String]) {
      self.type = type
      self.methods = methods
    }

    public static let blank = ProviderType(type: "", methods: [])

    public mutating func code(_ coder: inout some ObjectCoder) throws(JSONMismatch) {
      try coder.required("type", &type)
      try coder.required("methods", &methods)
    }
  }

  /// The capabilities of this broker.
  public struct Capabilities: ObjectCodable, Equatable {
    /// The methods that work.
    public var methods: [String]
    /// The events that are published.
    public var events: [String]
    /// The framings that are understood.
    public var framings: [String]
    /// The types of provider that can be configured.
    public var providers: [ProviderType]

    public init(methods: [String], events: [String], framings: [String], providers: [ProviderType]) {
      self.methods = methods
      self.events = events
      self.framings = framings
      self.providers = providers
    }

    public static let blank = Capabilities(methods: [], events: [], framings: [], providers: [])

    public mutating func code(_ coder: inout some ObjectCoder) throws(JSONMismatch) {
      try coder.required("methods", &methods)
      try coder.required("events", &events)
      try coder.required("framings", &framings, .list(of: .word(of: [Framing.lines.name, Framing.headers.name])))
      try coder.required("providers", &providers)
    }
  }

  /// A configured profile, and what a login to it needs.
  public struct Profile: ObjectCodable, Equatable {
    /// The profile.
    public var profile: ProfileName
    /// The type of provider, as in the configuration.
    public var provider: String
    /// The ways to log in; the first that the given credentials fit is taken where a login names none.
    public var login: [LoginForm]

    public init(profile: ProfileName, provider: String, login: [LoginForm]) {
      self.profile = profile
      self.provider = provider
      self.login = login
    }

    public static let blank = Profile(profile: .default, provider: "", login: [])

    public mutating func code(_ coder: inout some ObjectCoder) throws(JSONMismatch) {
      try coder.required("profile", &profile)
      try coder.required("provider", &provider)
      try coder.required("login", &login)
    }
  }

  public struct Result: ObjectCodable, Equatable {
    /// The version that the broker speaks.
    public var protocolVersion: String
    /// The broker program.
    public var server: Program
    /// The capabilities of this broker.
    public var capabilities: Capabilities
    /// The configured profiles, and what a login to each needs; empty from a broker that does not say.
    public var profiles: [Profile]
    /// The state of every profile.
    public var sessions: [Session]
    /// The sequence at which `sessions` holds.
    public var sequence: Int

    public init(
      protocolVersion: String, server: Program, capabilities: Capabilities, profiles: [Profile] = [],
      sessions: [Session], sequence: Int
    ) {
      self.protocolVersion = protocolVersion
      self.server = server
      self.capabilities = capabilities
      self.profiles = profiles
      self.sessions = sessions
      self.sequence = sequence
    }

    public static let blank = Result(
      protocolVersion: "", server: .blank, capabilities: .blank, sessions: [], sequence: 0)

    public mutating func code(_ coder: inout some ObjectCoder) throws(JSONMismatch) {
      try coder.required("protocolVersion", &protocolVersion, .word(of: [Initialize.protocolVersion]))
      try coder.required("server", &server)
      try coder.required("capabilities", &capabilities)
      try coder.defaulted("profiles", &profiles)
      try coder.required("sessions", &sessions)
      try coder.required("sequence", &sequence, .count)
    }
  }
}
