import SecretMemory

/// A secret as a file or a program gives it: its text, and maybe the end of its line.
enum RetrievedSecret {
  /// The most bytes of a secret: a key in hexadecimal has 64, a passphrase a few dozen, and a wrong path or a program
  /// that prints something else is noticed.
  static let byteLimit = 4096

  /// The secret without one newline at its end; nil where nothing is left.
  ///
  /// - Throws: `SecretMemoryExhausted`.
  static func trimmed(_ buffer: Secret, count: Int) throws(SecretMemoryExhausted) -> Secret? {
    try buffer.withBytes { bytes throws(SecretMemoryExhausted) in
      var bytes = bytes.extracting(first: count)
      if !bytes.isEmpty, bytes[bytes.count - 1] == UInt8(ascii: "\n") { bytes = bytes.extracting(droppingLast: 1) }
      return bytes.isEmpty ? nil : try Secret(copying: bytes)
    }
  }
}
