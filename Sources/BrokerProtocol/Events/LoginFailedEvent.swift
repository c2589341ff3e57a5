public import JSON

/// A login was refused.
public struct LoginFailedEvent: ObjectCodable, Equatable {
  /// The name of the ``ErrorKind`` that the login ended with.
  public var kind: String

  public init(kind: String) {
    self.kind = kind
  }

  public static let blank = LoginFailedEvent(kind: "")

  public mutating func code(_ coder: inout some ObjectCoder) throws(JSONMismatch) {
    try coder.required("kind", &kind)
  }
}
