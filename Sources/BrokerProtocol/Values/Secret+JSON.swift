public import JSONRPC
public import SecretMemory

extension JSONNode {
  /// No password, code or token is longer; one request must not take the locked memory of all the others.
  private static let secretByteLimit = 16_384

  /// A string value, moved straight into the locked arena.
  ///
  /// - Throws: ``JSONMismatch`` where it is no string, is too long, or where the arena has no room for it.
  public func secret() throws(JSONMismatch) -> Secret {
    guard text.count <= Self.secretByteLimit else { throw mismatch("at most \(Self.secretByteLimit) bytes long") }
    let secret: Secret? = try withStringBytes { bytes in try? Secret(copying: bytes) }
    guard let secret else { throw mismatch("shorter: the memory for secrets is used up") }
    return secret
  }
}

extension JSONWriter {
  /// Writes a secret as a member.
  ///
  /// The text cannot be wiped by the writer: whoever takes its bytes must.
  public mutating func member(revealing name: String, _ secret: Secret?) {
    guard let secret else { return }
    key(name)
    secret.withBytes { bytes in string(utf8: bytes) }
  }
}
