public import JSONRPC

/// A login was refused.
public struct LoginFailedEvent: JSONEncodable, JSONDecodable, Sendable, Equatable {
  /// The name of the ``ErrorKind`` that the login ended with.
  public var kind: String

  /// The data with its members.
  public init(kind: String) {
    self.kind = kind
  }

  /// Writes the members.
  public func encode(to writer: inout JSONWriter) {
    writer.object { writer in
      writer.member("kind", kind)
    }
  }

  /// Reads the members.
  public init(from node: JSONNode) throws(JSONMismatch) {
    kind = try node.required("kind").string()
  }
}
