public import JSONRPC

/// Gives the state and then every event.
public enum Subscribe: BrokerMethod {
  /// The name on the wire.
  public static let name = "subscribe"

  /// What a request carries.
  public struct Params: MethodParams, Equatable {
    /// The names of all parameters.
    public static let memberNames = ["events", "profiles", "since"]

    /// Which events; nil means all.
    public var events: [String]?
    /// Which profiles; nil means all.
    public var profiles: [ProfileName]?
    /// The last sequence that the caller has seen.
    public var since: Int?

    /// Params with the members that a caller gives.
    public init(events: [String]? = nil, profiles: [ProfileName]? = nil, since: Int? = nil) {
      self.events = events
      self.profiles = profiles
      self.since = since
    }

    /// Writes the members that are set.
    public func encode(to writer: inout JSONWriter) {
      writer.object { writer in
        writer.member(ifPresent: "events", events)
        writer.member(ifPresent: "profiles", profiles)
        writer.member(ifPresent: "since", since)
      }
    }

    /// Reads the members.
    public init(from node: JSONNode) throws(JSONMismatch) {
      events = try node.optional("events") { node throws(JSONMismatch) in
        try node.list { name throws(JSONMismatch) in try name.word() }
      }
      profiles = try node.optional("profiles", [ProfileName].init(from:))
      since = try node.optional("since", Int.init(from:))
    }
  }

  /// What the answer carries.
  public struct Result: JSONEncodable, JSONDecodable, Sendable, Equatable {
    /// The name of the subscription on this connection.
    public var subscriptionID: String
    /// The sequence at which `sessions` holds.
    public var sequence: Int
    /// The state of the subscribed profiles.
    public var sessions: [Session]
    /// Whether events since `since` are no longer kept: forget, and take `sessions`.
    public var resync: Bool?

    /// A result with its members.
    public init(subscriptionID: String, sequence: Int, sessions: [Session], resync: Bool? = nil) {
      self.subscriptionID = subscriptionID
      self.sequence = sequence
      self.sessions = sessions
      self.resync = resync
    }

    /// Writes the members.
    public func encode(to writer: inout JSONWriter) {
      writer.object { writer in
        writer.member("subscriptionId", subscriptionID)
        writer.member("sequence", sequence)
        writer.member("sessions", sessions)
        writer.member(ifPresent: "resync", resync)
      }
    }

    /// Reads the members.
    public init(from node: JSONNode) throws(JSONMismatch) {
      subscriptionID = try node.required("subscriptionId").string()
      sequence = try Int(from: try node.required("sequence"))
      sessions = try [Session](from: try node.required("sessions"))
      resync = try node.optional("resync", Bool.init(from:))
    }
  }
}
