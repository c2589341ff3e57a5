public import JSON

/// A user logged in.
public struct LoginEvent: ObjectCodable, Equatable {
  /// The provider's name for the account.
  public var userID: String?
  /// The login method.
  public var method: String
  /// The parameter `clientContext` of the login.
  public var clientContext: String?
  /// The connections that began the login.
  package var beginners = LoginBeginners()

  public init(userID: String? = nil, method: String, clientContext: String? = nil) {
    self.userID = userID
    self.method = method
    self.clientContext = clientContext
  }

  public static let blank = LoginEvent(method: "")

  public mutating func code(_ coder: inout some ObjectCoder) throws(JSONMismatch) {
    try coder.optional("userId", &userID)
    try coder.required("method", &method)
    try coder.optional("clientContext", &clientContext)
  }
}
