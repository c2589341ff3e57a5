public import JSON

/// Closes a door to a profile that the client is shown; at a limited socket, one that this connection has opened.
public enum CloseDoor: BrokerMethod {
  public static let name = "closeDoor"
  public typealias Result = Empty

  public struct Params: MethodParams, Equatable {
    /// The id of the door.
    public var doorID: String

    public init(doorID: String) { self.doorID = doorID }

    public static let blank = Params(doorID: "")

    public mutating func code(_ coder: inout some ObjectCoder) throws(JSONMismatch) {
      try coder.required("doorId", &doorID, .word)
    }
  }
}
