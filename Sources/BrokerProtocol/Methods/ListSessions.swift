public import JSONRPC

/// Tells where every configured profile stands.
public enum ListSessions: BrokerMethod {
  /// The name on the wire.
  public static let name = "listSessions"

  /// What a request carries.
  public typealias Params = Empty

  /// What the answer carries.
  public struct Result: JSONEncodable, JSONDecodable, Sendable, Equatable {
    /// One session for each profile.
    public var sessions: [Session]

    /// A result with its members.
    public init(sessions: [Session]) {
      self.sessions = sessions
    }

    /// Writes the members.
    public func encode(to writer: inout JSONWriter) {
      writer.object { writer in
        writer.member("sessions", sessions)
      }
    }

    /// Reads the members.
    public init(from node: JSONNode) throws(JSONMismatch) {
      sessions = try [Session](from: try node.required("sessions"))
    }
  }
}
