public import JSONRPC

/// A session was ended by hand.
public struct LogoutEvent: JSONEncodable, JSONDecodable, Sendable, Equatable {
  /// Why a session was ended.
  public enum Reason: String, Sendable, CaseIterable {
    case user, accountDeleted, passwordReset, providerChanged
  }

  /// Why the session was ended.
  public var reason: Reason

  /// The data with its members.
  public init(reason: Reason) {
    self.reason = reason
  }

  /// Writes the members.
  public func encode(to writer: inout JSONWriter) {
    writer.object { writer in
      writer.member("reason", reason.rawValue)
    }
  }

  /// Reads the members.
  public init(from node: JSONNode) throws(JSONMismatch) {
    let reasonNode = try node.required("reason")
    guard let reason = Reason(rawValue: try reasonNode.string()) else { throw reasonNode.mismatch("a known reason") }
    self.reason = reason
  }
}
