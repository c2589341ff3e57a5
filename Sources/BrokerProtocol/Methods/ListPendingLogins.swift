public import JSONRPC

/// Tells which login of a profile waits for its code, or for its user.
public enum ListPendingLogins: BrokerMethod {
  /// The name on the wire.
  public static let name = "listPendingLogins"

  /// What a request carries.
  public typealias Params = ProfileParams

  /// What the answer carries.
  public struct Result: JSONEncodable, JSONDecodable, Sendable, Equatable {
    /// The logins; a profile has one at most.
    public var logins: [PendingLoginStep]

    /// A result with its members.
    public init(logins: [PendingLoginStep]) { self.logins = logins }

    /// Writes the member.
    public func encode(to writer: inout JSONWriter) {
      writer.object { writer in writer.member("logins", logins) }
    }

    /// Reads the member.
    public init(from node: JSONNode) throws(JSONMismatch) {
      logins = try [PendingLoginStep](from: try node.required("logins"))
    }
  }
}
