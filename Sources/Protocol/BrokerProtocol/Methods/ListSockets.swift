public import JSON

/// Lists the limited sockets: those of the configuration, and those that were opened with openSocket.
///
/// - Throws: accessDenied.
public enum ListSockets: BrokerMethod {
  public static let name = "listSockets"
  public typealias Params = Empty

  public struct Result: ObjectCodable, Equatable {
    /// The sockets.
    public var sockets: [LimitedSocketState]

    public init(sockets: [LimitedSocketState]) { self.sockets = sockets }

    public static let blank = Result(sockets: [])

    public mutating func code(_ coder: inout some ObjectCoder) throws(JSONMismatch) {
      try coder.required("sockets", &sockets)
    }
  }
}
