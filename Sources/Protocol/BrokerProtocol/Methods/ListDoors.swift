public import JSON

/// Lists the doors to the profiles that the client is shown; at a limited socket, those that this connection has opened.
public enum ListDoors: BrokerMethod {
  public static let name = "listDoors"
  public typealias Params = Empty

  public struct Result: ObjectCodable, Equatable {
    /// The doors, in the order in which they were opened.
    public var doors: [DoorState]

    public init(doors: [DoorState]) { self.doors = doors }

    public static let blank = Result(doors: [])

    public mutating func code(_ coder: inout some ObjectCoder) throws(JSONMismatch) {
      try coder.required("doors", &doors)
    }
  }
}

/// An open door.
public struct DoorState: ObjectCodable, Equatable {
  /// Its id.
  public var doorID: String
  /// The profile whose token is attached.
  public var profile: ProfileName
  /// The server that requests go to.
  public var origin: String
  /// Its address.
  public var url: String
  /// How many connections are open.
  public var connections: Int
  /// How many requests were forwarded.
  public var forwarded: Int
  /// How many requests were refused.
  public var refused: Int
  /// When it is closed; absent where its time is not limited.
  public var expiresAt: Timestamp?

  /// A door of these members.
  public init(
    doorID: String, profile: ProfileName, origin: String, url: String, connections: Int = 0, forwarded: Int = 0,
    refused: Int = 0, expiresAt: Timestamp? = nil
  ) {
    (self.doorID, self.profile, self.origin, self.url) = (doorID, profile, origin, url)
    (self.connections, self.forwarded, self.refused) = (connections, forwarded, refused)
    self.expiresAt = expiresAt
  }

  public static let blank = DoorState(doorID: "", profile: .default, origin: "", url: "")

  public mutating func code(_ coder: inout some ObjectCoder) throws(JSONMismatch) {
    try coder.required("doorId", &doorID, .word)
    try coder.required("profile", &profile)
    try coder.required("origin", &origin)
    try coder.required("url", &url)
    try coder.required("connections", &connections, .count)
    try coder.required("forwarded", &forwarded, .count)
    try coder.required("refused", &refused, .count)
    try coder.optional("expiresAt", &expiresAt)
  }
}
