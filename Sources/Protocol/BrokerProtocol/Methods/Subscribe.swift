public import JSON

/// Returns the present state, then sends every event.
///
/// Each event is a notification of the method event; events.json describes them.
///
/// - Throws: unknownProfile.
public enum Subscribe: BrokerMethod {
  public static let name = "subscribe"

  public struct Params: MethodParams, Equatable {
    /// The names of the events; nil means all.
    public var events: [String]?
    /// The profiles; nil means all.
    public var profiles: [ProfileName]?
    /// The last sequence that the caller has seen: what it missed is sent first.
    public var since: Int?

    public init(events: [String]? = nil, profiles: [ProfileName]? = nil, since: Int? = nil) {
      self.events = events
      self.profiles = profiles
      self.since = since
    }

    public static let blank = Params()

    public mutating func code(_ coder: inout some ObjectCoder) throws(JSONMismatch) {
      try coder.optional("events", &events, .list(of: .word(of: EventName.allCases.map { $0.rawValue })))
      try coder.optional("profiles", &profiles)
      try coder.optional("since", &since, .count)
    }
  }

  public struct Result: ObjectCodable, Equatable {
    /// The name of the subscription on this connection.
    public var subscriptionID: String
    /// The sequence at which `sessions` holds.
    public var sequence: Int
    /// The state of the subscribed profiles.
    public var sessions: [Session]
    /// Whether events since `since` are no longer kept: forget, and take `sessions`.
    public var resync: Bool?

    public init(subscriptionID: String, sequence: Int, sessions: [Session], resync: Bool? = nil) {
      self.subscriptionID = subscriptionID
      self.sequence = sequence
      self.sessions = sessions
      self.resync = resync
    }

    public static let blank = Result(subscriptionID: "", sequence: 0, sessions: [])

    public mutating func code(_ coder: inout some ObjectCoder) throws(JSONMismatch) {
      try coder.required("subscriptionId", &subscriptionID)
      try coder.required("sequence", &sequence, .count)
      try coder.required("sessions", &sessions)
      try coder.optional("resync", &resync)
    }
  }
}
