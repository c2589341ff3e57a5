public import JSON

/// Closes a door that this connection has opened; an administrative connection closes any.
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
