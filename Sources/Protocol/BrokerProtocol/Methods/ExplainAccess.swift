public import JSON

/// Returns what a client may do with profiles, and which rule of the section `access` decides that.
///
/// Without a client it is about the caller's own connection, as if it had proven nothing. The members that describe one
/// can be combined: those that are given take the place of the process's own.
///
/// - Throws: profile.
public enum ExplainAccess: BrokerMethod {
  public static let name = "explainAccess"

  public struct Params: MethodParams, Equatable {
    /// The profile; nil means every configured one.
    public var profile: ProfileName?
    /// The method whose call is in question; nil means none.
    public var method: String?
    /// The number of a process: as the broker knows it by its newest connection, else as it would connect now.
    public var pid: Int?
    /// The name of a limited socket; nil means the broker's own one, for a process without a connection.
    public var socket: String?
    /// The number of a user; nil means the broker's own, where no process is named.
    public var uid: Int?
    /// A systemd unit, with `user/` in front where a user's manager has made it.
    public var unit: String?
    /// A label that a security module gives.
    public var label: String?
    /// The name that the client gives itself.
    public var tool: String?

    /// Parameters of these members.
    public init(
      profile: ProfileName? = nil, method: String? = nil, pid: Int? = nil, socket: String? = nil, uid: Int? = nil,
      unit: String? = nil, label: String? = nil, tool: String? = nil
    ) {
      (self.profile, self.method, self.pid, self.socket) = (profile, method, pid, socket)
      (self.uid, self.unit, self.label, self.tool) = (uid, unit, label, tool)
    }

    public static let blank = Params()

    public mutating func code(_ coder: inout some ObjectCoder) throws(JSONMismatch) {
      try coder.optional("profile", &profile)
      try coder.optional("method", &method, .word)
      try coder.optional("pid", &pid, .count)
      try coder.optional("socket", &socket, .word)
      try coder.optional("uid", &uid, .count)
      try coder.optional("unit", &unit, .text(atMost: ParameterLength.name))
      try coder.optional("label", &label, .text(atMost: ParameterLength.name))
      try coder.optional("tool", &tool, .text(atMost: ParameterLength.name))
    }
  }

  public struct Result: ObjectCodable, Equatable {
    /// The client that is meant.
    public var client: ClientIdentity
    /// The decision for each profile.
    public var profiles: [AccessDecision]

    /// A result of these members.
    public init(client: ClientIdentity, profiles: [AccessDecision]) {
      (self.client, self.profiles) = (client, profiles)
    }

    public static let blank = Result(client: .blank, profiles: [])

    public mutating func code(_ coder: inout some ObjectCoder) throws(JSONMismatch) {
      try coder.required("client", &client)
      try coder.required("profiles", &profiles)
    }
  }

  /// A rule, with what it says of clients and profiles.
  public struct DecidingRule: ObjectCodable, Equatable {
    /// Its place in the list `access.rules`, from 0 on.
    public var index: Int
    /// The limited socket that it names.
    public var socket: String?
    /// The users that it names, as numbers, or as ranges such as `100000-165535`.
    public var uids: [String]?
    /// The units that it names.
    public var unit: String?
    /// The labels that it names.
    public var label: String?
    /// The tool that it names.
    public var tool: String?
    /// The profiles that it names; nil for all.
    public var profiles: [ProfileName]?

    /// A rule of these members.
    public init(
      index: Int, socket: String? = nil, uids: [String]? = nil, unit: String? = nil, label: String? = nil,
      tool: String? = nil, profiles: [ProfileName]? = nil
    ) {
      (self.index, self.socket, self.uids, self.unit) = (index, socket, uids, unit)
      (self.label, self.tool, self.profiles) = (label, tool, profiles)
    }

    public static let blank = DecidingRule(index: 0)

    public mutating func code(_ coder: inout some ObjectCoder) throws(JSONMismatch) {
      try coder.required("index", &index, .count)
      try coder.optional("socket", &socket)
      try coder.optional("uids", &uids)
      try coder.optional("unit", &unit)
      try coder.optional("label", &label)
      try coder.optional("tool", &tool)
      try coder.optional("profiles", &profiles)
    }
  }
}
