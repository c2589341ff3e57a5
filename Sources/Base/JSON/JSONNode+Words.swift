extension JSONNode {
  /// The longest name or handle of the protocol has 64 bytes.
  private static let wordByteLimit = 256

  /// The value as a name or handle of the protocol: printable ASCII, at most 256 bytes.
  ///
  /// Swift compares and hashes other strings by their canonical form, which a peer can make slow to find: what is to be
  /// looked up must not be such a string.
  ///
  /// - Throws: ``JSONMismatch`` where it is something else.
  public func word() throws(JSONMismatch) -> String {
    let isWord = try withStringBytes { bytes in
      bytes.count <= Self.wordByteLimit && bytes.indices.allSatisfy { (0x20...0x7E).contains(bytes[$0]) }
    }
    guard isWord else { throw mismatch("a name of at most \(Self.wordByteLimit) bytes of ASCII") }
    return try string()
  }
}
