package import SecretMemory

/// The line that holds a password, a client's secret or an API key: the first one of a file, or of a program's output.
///
/// Password managers print more behind it (`pass show`), and editors end it as they like. Keys are read whole,
/// elsewhere.
package enum SecretLine {
  /// Why there is none.
  package enum Refusal: Error, Sendable, Equatable {
    /// The first line is empty.
    case empty
    /// It has a control character: it is no secret that anybody types.
    case controlCharacter
  }

  /// Takes the first line, without a carriage return and blanks at its end.
  ///
  /// - Parameter secret: all that was read.
  /// - Returns: the line; `secret` itself where that is one line.
  /// - Throws: ``Refusal``; `SecretMemoryExhausted`.
  package static func first(of secret: Secret) throws -> Secret {
    let (count, hasControl) = secret.withBytes { bytes -> (Int, Bool) in
      var end = bytes.indices.first { bytes[$0] == UInt8(ascii: "\n") } ?? bytes.count
      while end > 0, isBlank(bytes[end - 1]) { end -= 1 }
      return (end, (0..<end).contains { bytes[$0] < 0x20 || bytes[$0] == 0x7F })
    }
    guard count > 0 else { throw Refusal.empty }
    guard !hasControl else { throw Refusal.controlCharacter }
    if count == secret.byteCount { return secret }
    let line = secret.withBytes { bytes in
      Result { () throws(SecretMemoryExhausted) in try Secret(copying: bytes.extracting(0..<count)) }
    }
    return try line.get()
  }

  private static func isBlank(_ byte: UInt8) -> Bool {
    byte == UInt8(ascii: " ") || byte == UInt8(ascii: "\t") || byte == UInt8(ascii: "\r")
  }
}
