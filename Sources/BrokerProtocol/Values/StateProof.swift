public import JSONRPC

/// The file by which a client shows that it has the broker's state directory.
///
/// The client creates it exclusively, with mode 0600 and the nonce as its contents, and calls ``Prove``.
public struct StateProof: Sendable, Equatable {
  /// The absolute path, directly in the state directory.
  public var path: String
  /// The contents: 64 hexadecimal digits.
  public var nonce: String

  /// A proof to be given.
  public init(path: String, nonce: String) {
    self.path = path
    self.nonce = nonce
  }
}

extension StateProof: JSONEncodable, JSONDecodable {
  /// Writes both members.
  public func encode(to writer: inout JSONWriter) {
    writer.object { writer in
      writer.member("path", path)
      writer.member("nonce", nonce)
    }
  }

  /// Reads both members.
  public init(from node: JSONNode) throws(JSONMismatch) {
    path = try node.required("path").string()
    nonce = try node.required("nonce").string()
  }
}
