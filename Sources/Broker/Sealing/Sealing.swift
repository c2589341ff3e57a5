import CSodium
import SecretMemory

/// The start of everything in this module.
package enum Sealing {
  /// Makes libsodium ready and checks that it computes what it should; secrets can rest from then on.
  ///
  /// Call it once at the start of the process, before anything else of this module; calling it again does no harm. What
  /// is checked takes microseconds: the cipher that every record is sealed with and the hash that names keys and tokens.
  /// Argon2id is left to the tests: one answer of it takes a tenth of a second and 64 MiB at each start, and a wrong one
  /// opens nothing that was sealed with a right one, which shows at once.
  ///
  /// - Throws: `SealingError.libraryUnavailable`, `.secretMemoryUnavailable`: the process must not go on.
  package static func initialize() throws(SealingError) {
    guard SecretArena.usage.capacity > 0 else { throw .secretMemoryUnavailable }
    guard sodium_init() >= 0, passesCipherTest(), passesHashTest() else { throw .libraryUnavailable }
    // Without room for its key, every secret stays in the arena.
    if let shield = try? RestingShield() { Secret.use(shield) }
  }

  /// The first bytes of two digests of BLAKE2b-512: that of `abc` (RFC 7693, appendix A), and that of no message under the
  /// key of the bytes 0 to 63 (the reference implementation's list of known answers).
  private static func passesHashTest() -> Bool {
    let unkeyed = KeyedHash.unkeyedDigest(of: Array("abc".utf8).span, count: 64)
    guard let key = try? Secret(copying: Array(0...63).span) else { return false }
    let keyed = KeyedHash.digest(of: Span(), key: key, count: 64)
    return unkeyed.starts(with: [0xba, 0x80, 0xa5, 0x3f, 0x98, 0x1c, 0x4d, 0x0d, 0x6a, 0x27, 0x97, 0xb6])
      && keyed.starts(with: [0x10, 0xeb, 0xb6, 0x77, 0x00, 0xb1, 0x86, 0x8e, 0xfb, 0x44, 0x17, 0x98])
  }

  /// draft-irtf-cfrg-xchacha-03, appendix A.3.1: tag and first bytes of the ciphertext, then the way back.
  private static func passesCipherTest() -> Bool {
    let key = [UInt8](0x80...0x9f)
    let nonce = [UInt8](0x40...0x57)
    let associatedData: [UInt8] = [0x50, 0x51, 0x52, 0x53, 0xc0, 0xc1, 0xc2, 0xc3, 0xc4, 0xc5, 0xc6, 0xc7]
    let sunscreen: StaticString = """
      Ladies and Gentlemen of the class of '99: If I could offer you only one tip for the future, sunscreen would be it.
      """
    let plaintext = Array(String(describing: sunscreen).utf8)
    let tag: [UInt8] = [
      0xc0, 0x87, 0x59, 0x24, 0xc1, 0xc7, 0x98, 0x79, 0x47, 0xde, 0xaf, 0xd8, 0x78, 0x0a, 0xcf, 0x49,
    ]
    var sealed = [UInt8](repeating: 0, count: plaintext.count + XChaCha20Poly1305.tagByteCount)
    var output = sealed.mutableSpan
    XChaCha20Poly1305.encrypt(
      plaintext.span, associatedData: associatedData.span, nonce: nonce.span, key: key.span, into: &output)
    guard sealed.starts(with: [0xbd, 0x6d, 0x17, 0x9d]), sealed.suffix(tag.count).elementsEqual(tag) else {
      return false
    }
    var opened = [UInt8](repeating: 0, count: plaintext.count)
    var target = opened.mutableSpan
    let isAuthentic = XChaCha20Poly1305.decrypt(
      sealed.span, associatedData: associatedData.span, nonce: nonce.span, key: key.span, into: &target)
    return isAuthentic && opened == plaintext
  }
}
