import CSodium
import Glibc
package import SecretMemory
import TextCoding

/// Hashes passwords for storage: Argon2id (RFC 9106) in its usual text form (`$argon2id$v=19$m=…,t=…,p=1$salt$hash`).
///
/// Each call takes the memory and the time that the parameters name, on the calling thread: never on the event loop.
package struct PasswordHash: Sendable {
  /// How much work one hash is.
  package typealias Parameters = Argon2Cost

  /// How much work a new hash is.
  package let parameters: Parameters

  /// A hash of no password, with the current parameters.
  private let decoy: [UInt8]

  private let availableMemory: @Sendable () -> Int64?
  /// Called before each computation.
  private let willCompute: @Sendable () -> Void

  /// A hasher; cheap to make.
  ///
  /// - Parameters:
  ///   - parameters: how much work a new hash is.
  ///   - availableMemory: how many bytes there are for a computation; nil where that is not known.
  ///   - willCompute: called before each computation, for a test that counts them.
  package init(
    parameters: Parameters = .standard, availableMemory: @escaping @Sendable () -> Int64? = { nil },
    willCompute: @escaping @Sendable () -> Void = {}
  ) {
    self.parameters = parameters
    self.availableMemory = availableMemory
    self.willCompute = willCompute
    let salt = Self.base64(RandomBytes.array(count: 16))
    let tag = Self.base64(RandomBytes.array(count: 32))
    decoy = Array("$argon2id$v=19$m=\(parameters.memoryKiB),t=\(parameters.passes),p=1$\(salt)$\(tag)".utf8)
  }

  /// Hashes a password with a new salt.
  ///
  /// - Returns: the text form in ASCII.
  /// - Throws: `SealingError.resourceLimit` when there is not enough memory.
  package func hash(_ password: Secret) throws(SealingError) -> [UInt8] {
    try prepare(memoryKiB: parameters.memoryKiB)
    var text = [CChar](repeating: 0, count: Int(crypto_pwhash_STRBYTES))
    let status = password.withBytes { password in
      // The text has the length that libsodium asks for, the password its own; both live until the closures return.
      unsafe password.withCCharacters { password, count in
        // As above.
        unsafe crypto_pwhash_str(
          &text, password, UInt64(count), UInt64(parameters.passes), parameters.memoryByteCount)
      }
    }
    guard status == 0 else { throw .resourceLimit }
    return text.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }
  }

  /// Says whether a password is the one that was hashed.
  ///
  /// - Parameters:
  ///   - password: what a person typed.
  ///   - encoded: what ``hash(_:)`` returned, maybe years ago.
  /// - Returns: whether it is.
  /// - Throws: `SealingError.malformed` when it is not an Argon2id hash, `.resourceLimit` when it asks for more
  ///   than `Parameters.largest` or there is not enough memory.
  package func verify(_ password: Secret, against encoded: Span<UInt8>) throws(SealingError) -> Bool {
    let text = try Self.terminated(encoded)
    let cost = try Self.cost(of: encoded)
    guard cost.passes <= Parameters.largest.passes, cost.memoryKiB <= Parameters.largest.memoryKiB else {
      throw .resourceLimit
    }
    try prepare(memoryKiB: cost.memoryKiB)
    let (status, reason) = password.withBytes { password in
      // The text is padded to the length that libsodium asks for; the password goes with its own length.
      unsafe password.withCCharacters { password, count in
        errno = 0
        // As above.
        return unsafe (crypto_pwhash_str_verify(text, password, UInt64(count)), errno)
      }
    }
    if status == 0 { return true }
    // libsodium 1.0.18 sets EINVAL for a wrong password only; allocation sets ENOMEM.
    switch reason {
    case EINVAL: return false
    case ENOMEM: throw .resourceLimit
    default: throw .malformed
    }
  }

  /// Takes as long as ``verify(_:against:)`` and is never true: for an account that does not exist, so that time does
  /// not tell which ones do.
  ///
  /// - Throws: `SealingError.resourceLimit` when there is not enough memory.
  package func verifyAgainstNothing(_ password: Secret) throws(SealingError) -> Bool {
    // The decoy's tag is random: that it matches is as likely as guessing a key.
    _ = try verify(password, against: decoy.span)
    return false
  }

  /// Whether a hash was made with other parameters than the current ones, so that it should be made again at the next
  /// log-in.
  ///
  /// - Throws: `SealingError.malformed` when it is not an Argon2id hash.
  package func needsRehash(_ encoded: Span<UInt8>) throws(SealingError) -> Bool {
    let text = try Self.terminated(encoded)
    // The text is padded to the length that libsodium asks for.
    switch unsafe crypto_pwhash_str_needs_rehash(text, UInt64(parameters.passes), parameters.memoryByteCount) {
    case 0: return false
    case 1: return true
    default: throw .malformed
    }
  }
}

extension PasswordHash {
  /// Refuses a computation that there is no memory for, also where a stored hash asks for it.
  private func prepare(memoryKiB: Int) throws(SealingError) {
    guard Parameters.fits(memoryKiB: memoryKiB, in: availableMemory()) else { throw .resourceLimit }
    willCompute()
  }

  /// The text as C wants it: padded with NULs to the fixed length.
  private static func terminated(_ encoded: Span<UInt8>) throws(SealingError) -> [CChar] {
    guard encoded.count < Int(crypto_pwhash_STRBYTES) else { throw .malformed }
    var text = [CChar](repeating: 0, count: Int(crypto_pwhash_STRBYTES))
    for index in encoded.indices {
      guard encoded[index] != 0 else { throw .malformed }
      text[index] = CChar(bitPattern: encoded[index])
    }
    return text
  }

  /// Reads the cost from a stored hash, before libsodium acts on it.
  private static func cost(of encoded: Span<UInt8>) throws(SealingError) -> (passes: Int, memoryKiB: Int) {
    var position = 0
    func expect(_ literal: StaticString) throws(SealingError) {
      for byte in String(describing: literal).utf8 {
        guard position < encoded.count, encoded[position] == byte else { throw .malformed }
        position += 1
      }
    }
    // Nine digits at most, so that nothing overflows; ten would be beyond every bound anyway.
    func number() throws(SealingError) -> Int {
      var value = 0
      let start = position
      while position < encoded.count, case let digit = encoded[position], digit >= 0x30, digit <= 0x39 {
        guard position - start < 9 else { throw .resourceLimit }
        value = value * 10 + Int(digit - 0x30)
        position += 1
      }
      guard position > start else { throw .malformed }
      return value
    }
    try expect("$argon2id$v=19$m=")
    let memoryKiB = try number()
    try expect(",t=")
    let passes = try number()
    try expect(",p=1$")
    return (passes, memoryKiB)
  }

  /// Base64 without padding in the original alphabet, as in Argon2's text form: salts and tags only.
  private static func base64(_ bytes: [UInt8]) -> String {
    String(decoding: Base64.encode(bytes.span, as: .padded).prefix { $0 != UInt8(ascii: "=") }, as: UTF8.self)
  }
}
