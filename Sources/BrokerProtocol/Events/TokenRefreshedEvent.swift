public import JSONRPC

/// There is a new access token; ask for it.
public struct TokenRefreshedEvent: JSONEncodable, JSONDecodable, Sendable, Equatable {
  /// The keyed hash of the new token.
  public var tokenID: String
  /// When it ends.
  public var expiresAt: Timestamp?

  /// The data with its members.
  public init(tokenID: String, expiresAt: Timestamp? = nil) {
    self.tokenID = tokenID
    self.expiresAt = expiresAt
  }

  /// Writes the members.
  public func encode(to writer: inout JSONWriter) {
    writer.object { writer in
      writer.member("tokenId", tokenID)
      writer.member(ifPresent: "expiresAt", expiresAt)
    }
  }

  /// Reads the members.
  public init(from node: JSONNode) throws(JSONMismatch) {
    tokenID = try node.required("tokenId").string()
    expiresAt = try node.optional("expiresAt", Timestamp.init(from:))
  }
}
