public import JSON

/// A login was refused.
public struct LoginFailedEvent: ObjectCodable, Equatable {
  /// The name of the ``ErrorKind`` that the login ended with.
  public var kind: String
  /// The parameter `clientContext` of the login.
  public var clientContext: String?
  /// The connections that began the login.
  package var beginners = LoginBeginners()

  public init(kind: String, clientContext: String? = nil) {
    self.kind = kind
    self.clientContext = clientContext
  }

  public static let blank = LoginFailedEvent(kind: "")

  public mutating func code(_ coder: inout some ObjectCoder) throws(JSONMismatch) {
    try coder.required("kind", &kind)
    try coder.optional("clientContext", &clientContext)
  }
}
