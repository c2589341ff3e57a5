public import JSON

/// Closes a socket that was opened with openSocket, and the connections that came by it.
///
/// - Throws: accessDenied.
public enum CloseSocket: BrokerMethod {
  public static let name = "closeSocket"
  public typealias Result = Empty

  public struct Params: MethodParams, Equatable {
    /// The id of the socket.
    public var socketID: String

    public init(socketID: String) { self.socketID = socketID }

    public static let blank = Params(socketID: "")

    public mutating func code(_ coder: inout some ObjectCoder) throws(JSONMismatch) {
      try coder.required("socketId", &socketID, .word)
    }
  }
}
