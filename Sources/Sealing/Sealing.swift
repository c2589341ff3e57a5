import CSodium
import SecretMemory

/// The start of everything in this module.
package enum Sealing {
  /// Makes libsodium ready and checks that it computes what it should.
  ///
  /// Call it once at the start of the process, before anything else of this module; calling it again does no harm.
  ///
  /// - Throws: `SealingError.libraryUnavailable`: the process must not go on.
  package static func initialize() throws(SealingError) {
    guard sodium_init() >= 0, passesKnownAnswerTest() else { throw .libraryUnavailable }
  }

  /// draft-irtf-cfrg-xchacha-03, appendix A.3.1: tag and first bytes of the ciphertext, then the way back.
  private static func passesKnownAnswerTest() -> Bool {
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
