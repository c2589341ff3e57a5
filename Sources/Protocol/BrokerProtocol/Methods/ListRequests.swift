public import JSON

/// Lists the requests that are queued, and those that have ended lately.
///
/// - Throws: profile.
public enum ListRequests: BrokerMethod {
  public static let name = "listRequests"

  public struct Params: MethodParams, Equatable {
    /// The profile; nil for all.
    public var profile: ProfileName?

    /// Parameters of these members.
    public init(profile: ProfileName? = nil) { self.profile = profile }

    public static let blank = Params()

    public mutating func code(_ coder: inout some ObjectCoder) throws(JSONMismatch) {
      try coder.optional("profile", &profile)
    }
  }

  public struct Result: ObjectCodable, Equatable {
    /// The requests of each profile, in the order in which they were queued.
    public var requests: [QueuedRequestState]
    /// How many older ones are left out; absent for none.
    public var omitted: Int?

    /// A list of these members.
    public init(requests: [QueuedRequestState], omitted: Int? = nil) {
      (self.requests, self.omitted) = (requests, omitted)
    }

    public static let blank = Result(requests: [])

    public mutating func code(_ coder: inout some ObjectCoder) throws(JSONMismatch) {
      try coder.required("requests", &requests)
      try coder.optional("omitted", &omitted, .count)
    }
  }
}
