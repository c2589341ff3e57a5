import SecretMemory

/// HMAC (RFC 2104) with ``SHA1``, for one-time codes (RFC 4226).
enum HMACSHA1 {
  /// The authentication code of a message.
  ///
  /// - Parameters:
  ///   - message: of any length.
  ///   - key: of any length; one that is longer than a block is hashed first (RFC 2104, section 2).
  /// - Returns: ``SHA1/byteCount`` bytes, which the caller wipes.
  static func code(of message: Span<UInt8>, key: Secret) -> [UInt8] {
    var block = blockSized(key)
    defer { wipe(&block) }
    var inner = digest(of: message, key: block, pad: 0x36)
    defer { wipe(&inner) }
    return digest(of: inner.span, key: block, pad: 0x5C)
  }

  /// The key as long as a block, with zeros behind it.
  private static func blockSized(_ key: Secret) -> [UInt8] {
    var block = [UInt8](repeating: 0, count: SHA1.blockByteCount)
    key.withBytes { key in
      guard key.count > SHA1.blockByteCount else { return block.copy(key, to: 0) }
      var digest = SHA1.digest(of: key)
      block.copy(digest.span, to: 0)
      wipe(&digest)
    }
    return block
  }

  /// Hashes the key, each of its bytes changed by `pad`, and the message after it.
  private static func digest(of message: Span<UInt8>, key: [UInt8], pad: UInt8) -> [UInt8] {
    var input = [UInt8](repeating: 0, count: key.count + message.count)
    defer { wipe(&input) }
    for index in key.indices { input[index] = key[index] ^ pad }
    input.copy(message, to: key.count)
    return SHA1.digest(of: input.span)
  }
}

extension [UInt8] {
  /// Overwrites bytes with others, in place: a buffer that moved would leave a copy behind.
  fileprivate mutating func copy(_ bytes: Span<UInt8>, to start: Int) {
    for index in bytes.indices { self[start + index] = bytes[index] }
  }
}
