import CSodium
package import SecretMemory

/// Unpredictable bytes and numbers from the kernel (getrandom(2), through libsodium's `randombytes`).
package enum RandomBytes {
  /// Draws bytes that are no secret: nonces, identifiers, salts.
  ///
  /// - Parameter count: not negative.
  /// - Returns: `count` bytes.
  package static func array(count: Int) -> [UInt8] {
    var bytes = [UInt8](repeating: 0, count: count)
    var span = bytes.mutableSpan
    fill(&span)
    return bytes
  }

  /// Draws bytes that are a secret.
  ///
  /// - Parameter count: not negative.
  /// - Returns: `count` bytes, drawn straight into locked memory.
  /// - Throws: `SealingError.secretMemoryExhausted`.
  package static func secret(count: Int) throws(SealingError) -> Secret {
    do { return try Secret(byteCount: count) { fill(&$0) } } catch { throw .secretMemoryExhausted }
  }

  /// Draws a number without bias, such as for a one-time code.
  ///
  /// - Parameter upperBound: at least 1.
  /// - Returns: a number from 0 up to, not including, the bound, each with the same probability.
  package static func uniform(upperBound: UInt32) -> UInt32 {
    precondition(upperBound > 0, "there is a number below the bound")
    return randombytes_uniform(upperBound)
  }

  private static func fill(_ span: inout MutableSpan<UInt8>) {
    // Pointer and length come from the same buffer, which lives until the closure returns.
    unsafe span.withUnsafeMutableBufferPointer { buffer in
      // As above.
      if let start = buffer.baseAddress { unsafe randombytes_buf(start, buffer.count) }
    }
  }
}
