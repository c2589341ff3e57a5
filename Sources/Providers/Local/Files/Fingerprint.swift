import Sealing
import SecretMemory

/// Keyed hashes (BLAKE2b, RFC 7693) of what is stored only to be compared: a copy of the tables alone tells no code, no
/// handle and no token, however few values there are to try.
struct Fingerprint {
  /// The kind of value; each kind has hashes of its own.
  enum Purpose: UInt8 {
    case code = 1
    case handle, refreshToken, address, mailToken, audit, backupCode, destination
  }

  private let hash: KeyedHash

  /// Fingerprints under a key.
  init(hash: KeyedHash) {
    self.hash = hash
  }

  /// The fingerprint of a secret, bound to a context where there is one.
  func of(_ secret: Secret, _ purpose: Purpose, context: [UInt8] = []) -> [UInt8] {
    withMessage(secret, purpose, context) { hash.digest(of: $0) }
  }

  /// The fingerprint of a string that is no secret.
  func of(_ text: String, _ purpose: Purpose) -> [UInt8] {
    hash.digest(of: ([purpose.rawValue, 0] + Array(text.utf8)).span)
  }

  /// The fingerprint of a list of fields, of which some may be missing: no two lists have the same.
  func of(_ fields: [[UInt8]?], _ purpose: Purpose) -> [UInt8] {
    var message = [purpose.rawValue]
    for field in fields {
      message += Array((field.map { "+\($0.count) " } ?? "-").utf8)
      message += field ?? []
    }
    return hash.digest(of: message.span)
  }

  /// Whether a fingerprint is that of a secret, compared in constant time.
  func matches(_ fingerprint: [UInt8], _ secret: Secret, _ purpose: Purpose, context: [UInt8]) -> Bool {
    withMessage(secret, purpose, context) { hash.isValid(fingerprint.span, for: $0) }
  }

  /// Purpose, length of the context, context, secret: no two of them make the same message.
  private func withMessage<R>(
    _ secret: Secret, _ purpose: Purpose, _ context: [UInt8], _ body: (Span<UInt8>) -> R
  ) -> R {
    precondition(context.count < 256, "a context is a fingerprint")
    var message = [UInt8](repeating: 0, count: 2 + context.count + secret.byteCount)
    defer { wipe(&message) }
    message[0] = purpose.rawValue
    message[1] = UInt8(context.count)
    for (index, byte) in context.enumerated() { message[2 + index] = byte }
    secret.withBytes { bytes in
      for index in bytes.indices { message[2 + context.count + index] = bytes[index] }
    }
    return body(message.span)
  }
}
