public import JSON

/// There is a new access token; ask for it.
public struct TokenRefreshedEvent: ObjectCodable, Equatable {
  /// The keyed hash of the new token.
  public var tokenID: String
  /// When it expires.
  public var expiresAt: Timestamp?

  public init(tokenID: String, expiresAt: Timestamp? = nil) {
    self.tokenID = tokenID
    self.expiresAt = expiresAt
  }

  public static let blank = TokenRefreshedEvent(tokenID: "")

  public mutating func code(_ coder: inout some ObjectCoder) throws(JSONMismatch) {
    try coder.required("tokenId", &tokenID)
    try coder.optional("expiresAt", &expiresAt)
  }
}
