import JSON
import SecretMemory

/// Texts with a secret at their end.
enum SecretText {
  /// A secret behind a prefix, in a buffer that never moves, so that no copy stays behind.
  ///
  /// - Parameters:
  ///   - prefix: what stands before the secret.
  ///   - secret: the secret.
  ///   - room: how many bytes more the caller is going to append: one is the end of a line.
  /// - Returns: bytes that the caller wipes.
  static func bytes(_ prefix: String, _ secret: Span<UInt8>, room: Int = 1) -> [UInt8] {
    var bytes: [UInt8] = []
    bytes.reserveCapacity(prefix.utf8.count + secret.count + room)
    bytes.append(contentsOf: prefix.utf8)
    bytes.append(copying: secret)
    return bytes
  }

  /// The same of a secret in the locked memory.
  static func bytes(_ prefix: String, _ secret: Secret, room: Int = 1) -> [UInt8] {
    secret.withBytes { bytes(prefix, $0, room: room) }
  }
}
