public import JSON
public import SecretMemory

extension JSONNode {
  /// No password, code or passphrase is longer; one request must not take the memory of all the others.
  private static let secretByteLimit = 16_384

  /// No token is longer: those with many claims have some 10 KiB, and servers take no header line longer than this.
  public static let tokenByteLimit = 65_536

  /// A string value, moved straight into the locked arena: a password, a code.
  ///
  /// - Throws: ``JSONMismatch`` where it is no string, is too long, or where the arena has no room for it.
  public func secret() throws(JSONMismatch) -> Secret { try secret(atMost: Self.secretByteLimit) }

  /// A string value, moved straight into the locked arena: a token, which may be longer than any other secret.
  ///
  /// - Throws: ``JSONMismatch`` where it is no string, is too long, or where the arena has no room for it.
  public func token() throws(JSONMismatch) -> Secret { try secret(atMost: Self.tokenByteLimit) }

  /// The secret or token of a string that another program has written, for a reader that takes what it can use.
  ///
  /// - Returns: nil where it is no string, or longer than a token.
  /// - Throws: `SecretMemoryExhausted` where the arena has no room for it: that says nothing of the text, which is worth
  ///   reading again.
  public func foundSecret() throws(SecretMemoryExhausted) -> Secret? {
    do throws(JSONMismatch) { return try token() } catch {
      if error.isForWantOfMemory { throw SecretMemoryExhausted() }
      return nil
    }
  }

  private func secret(atMost limit: Int) throws(JSONMismatch) -> Secret {
    // An escape makes 6 bytes of 1, and there are quotes: nothing longer is examined.
    guard text.count <= 6 * limit + 2 else { throw mismatch("at most \(limit) bytes long") }
    let result = try withStringBytes { bytes -> Result<Secret, SecretMemoryExhausted>? in
      guard bytes.count <= limit else { return nil }
      return Result { () throws(SecretMemoryExhausted) in try Secret(copying: bytes) }
    }
    switch result {
    case .success(let secret)?: return secret
    case .failure?:
      throw JSONMismatch(
        at: pointer, expected: "shorter: the memory for secrets is full", isForWantOfMemory: true)
    case nil: throw mismatch("at most \(limit) bytes long")
    }
  }
}

extension JSONWriter {
  /// Writes a secret as a member.
  ///
  /// The text cannot be wiped by the writer: the reader of its bytes must.
  public mutating func member(revealing name: String, _ secret: Secret?) {
    guard let secret else { return }
    key(name)
    secret.withBytes { bytes in string(utf8: bytes) }
  }
}
