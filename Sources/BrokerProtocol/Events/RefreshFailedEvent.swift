public import JSONRPC

/// A refresh did not succeed.
public struct RefreshFailedEvent: JSONEncodable, JSONDecodable, Sendable, Equatable {
  /// The name of the ``ErrorKind`` that the refresh ended with.
  public var kind: String
  /// Whether the same refresh may succeed later.
  public var retryable: Bool
  /// When the next attempt is made; nil where none is planned.
  public var nextAttemptAt: Timestamp?

  /// The data with its members.
  public init(kind: String, retryable: Bool, nextAttemptAt: Timestamp? = nil) {
    self.kind = kind
    self.retryable = retryable
    self.nextAttemptAt = nextAttemptAt
  }

  /// Writes the members.
  public func encode(to writer: inout JSONWriter) {
    writer.object { writer in
      writer.member("kind", kind)
      writer.member("retryable", retryable)
      writer.member(ifPresent: "nextAttemptAt", nextAttemptAt)
    }
  }

  /// Reads the members.
  public init(from node: JSONNode) throws(JSONMismatch) {
    kind = try node.required("kind").string()
    retryable = try node.required("retryable").bool()
    nextAttemptAt = try node.optional("nextAttemptAt", Timestamp.init(from:))
  }
}
