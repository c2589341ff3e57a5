public import JSON

/// A refresh did not succeed.
public struct RefreshFailedEvent: ObjectCodable, Equatable {
  /// The name of the ``ErrorKind`` that the refresh ended with.
  public var kind: String
  /// Whether the same refresh may succeed later.
  public var retryable: Bool
  /// When the next attempt is made; nil where none is planned.
  public var nextAttemptAt: Timestamp?

  public init(kind: String, retryable: Bool, nextAttemptAt: Timestamp? = nil) {
    self.kind = kind
    self.retryable = retryable
    self.nextAttemptAt = nextAttemptAt
  }

  public static let blank = RefreshFailedEvent(kind: "", retryable: false)

  public mutating func code(_ coder: inout some ObjectCoder) throws(JSONMismatch) {
    try coder.required("kind", &kind)
    try coder.required("retryable", &retryable)
    try coder.optional("nextAttemptAt", &nextAttemptAt)
  }
}
