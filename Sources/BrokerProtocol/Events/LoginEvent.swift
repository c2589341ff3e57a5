public import JSONRPC

/// Somebody logged in.
public struct LoginEvent: JSONEncodable, JSONDecodable, Sendable, Equatable {
  /// The provider's name for the account.
  public var userID: String?
  /// How the login was done.
  public var method: String

  /// The data with its members.
  public init(userID: String? = nil, method: String) {
    self.userID = userID
    self.method = method
  }

  /// Writes the members.
  public func encode(to writer: inout JSONWriter) {
    writer.object { writer in
      writer.member(ifPresent: "userId", userID)
      writer.member("method", method)
    }
  }

  /// Reads the members.
  public init(from node: JSONNode) throws(JSONMismatch) {
    userID = try node.optional("userId", String.init(from:))
    method = try node.required("method").string()
  }
}
