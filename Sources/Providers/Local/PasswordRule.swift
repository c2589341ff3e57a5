import SecretMemory

/// Which passwords an account may have.
///
/// One lower bound and no rule on composition (SP 800-63B-4, section 3.1.1.2): 8 characters, which that document asks for
/// where a second factor is used. White space counts; nothing is cut off or normalised.
enum PasswordRule {
  /// Characters, as Unicode scalars.
  static let fewestCharacters = 8
  /// What is hashed at most, so that a password costs no more than its hash.
  static let largestByteCount = 1024

  /// Whether a new password is accepted.
  static func accepts(_ password: Secret) -> Bool {
    guard password.byteCount <= largestByteCount else { return false }
    // A scalar has one byte that does not continue another (RFC 3629, section 3).
    let characters = password.withBytes { bytes in
      bytes.indices.reduce(into: 0) { count, index in if bytes[index] & 0xC0 != 0x80 { count += 1 } }
    }
    return characters >= fewestCharacters
  }
}
