public import JSON

/// The account's description changed.
public struct UserUpdatedEvent: ObjectCodable, Equatable {
  /// The provider's name for the account.
  public var userID: String

  public init(userID: String) {
    self.userID = userID
  }

  public static let blank = UserUpdatedEvent(userID: "")

  public mutating func code(_ coder: inout some ObjectCoder) throws(JSONMismatch) {
    try coder.required("userId", &userID)
  }
}
