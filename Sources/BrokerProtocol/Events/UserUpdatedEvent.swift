public import JSONRPC

/// The account's description changed.
public struct UserUpdatedEvent: JSONEncodable, JSONDecodable, Sendable, Equatable {
  /// The provider's name for the account.
  public var userID: String

  /// The data with its members.
  public init(userID: String) {
    self.userID = userID
  }

  /// Writes the members.
  public func encode(to writer: inout JSONWriter) {
    writer.object { writer in
      writer.member("userId", userID)
    }
  }

  /// Reads the members.
  public init(from node: JSONNode) throws(JSONMismatch) {
    userID = try node.required("userId").string()
  }
}
