public import JSON

/// The file by which a client shows that it has the broker's state directory.
///
/// The client creates it exclusively, with mode 0600 and the nonce as its contents, and calls ``Prove``.
public struct StateProof: Sendable, Equatable {
  /// The absolute path, directly in the state directory.
  public var path: String
  /// The contents: 64 hexadecimal digits.
  public var nonce: String

  public init(path: String, nonce: String) {
    self.path = path
    self.nonce = nonce
  }
}

extension StateProof: ObjectCodable {
  public static let blank = StateProof(path: "", nonce: "")

  public mutating func code(_ coder: inout some ObjectCoder) throws(JSONMismatch) {
    try coder.required("path", &path)
    try coder.required("nonce", &nonce)
  }
}

extension StateProof {
  public static let notes = SchemaNotes("StateProof", "What prove wants: a file of this path, with this contents.")
}
