import CCrypto
import JOSE
import Sealing
import SecretMemory

/// A key in libcrypto's memory, which is wiped when the value ends.
@safe
struct LoadedKey: ~Copyable {
  /// The form of a key in DER.
  enum Form {
    /// PKCS #8, PKCS #1 or SEC 1.
    case privateKey
    /// SubjectPublicKeyInfo (RFC 5280, section 4.1.2.7).
    case publicKey
  }

  /// More bytes than the longest signature or number of a key has.
  private static let longestNumber = KeyFault.rsaBits.upperBound / 8

  private let library: CryptoLibrary
  private let pointer: OpaquePointer

  /// Reads a key in DER.
  ///
  /// - Throws: `KeyFault.libraryMissing`, `.damaged`.
  init(_ form: Form, der: Span<UInt8>) throws(KeyFault) {
    let library = try CryptoLibrary.load()
    // Pointer and count belong together and live until the call returns; the table is never freed.
    let key = unsafe der.withCBytes { start, count in
      unsafe ccrypto_read(library.table, form == .privateKey ? 1 : 0, start, count)
    }
    // Null for what is no key.
    guard let key = unsafe key else { throw .damaged }
    self.library = library
    unsafe pointer = key
  }

  /// Makes a new key of the curve P-256.
  ///
  /// - Throws: `KeyFault.libraryMissing`, `.failed`.
  init() throws(KeyFault) {
    let library = try CryptoLibrary.load()
    // The table is never freed.
    guard let key = unsafe ccrypto_make_p256(library.table) else { throw .failed }
    self.library = library
    unsafe pointer = key
  }

  deinit {
    // This is the only reference to the key.
    unsafe ccrypto_free(library.table, pointer)
  }

  /// The key's public half.
  ///
  /// - Throws: `KeyFault` for a key that neither algorithm takes.
  func publicHalf() throws(KeyFault) -> VerificationKey {
    // The key lives as long as this value.
    switch Int(unsafe ccrypto_kind(library.table, pointer)) {
    case CCRYPTO_P256:
      let (x, y) = (try number("qx"), try number("qy"))
      let padded = { (bytes: [UInt8]) in
        [UInt8](repeating: 0, count: VerificationKey.coordinateByteCount - bytes.count) + bytes
      }
      return .p256(x: padded(x), y: padded(y))
    case CCRYPTO_RSA:
      // As above.
      let bits = Int(unsafe ccrypto_bits(library.table, pointer))
      guard KeyFault.rsaBits.contains(bits) else { throw .size(bits: bits) }
      return .rsa(modulus: try number("n"), exponent: try number("e"))
    case CCRYPTO_OTHER_CURVE: throw .curve
    default: throw .kind
    }
  }

  private func number(_ name: String) throws(KeyFault) -> [UInt8] {
    var bytes = [UInt8](repeating: 0, count: Self.longestNumber)
    var output = bytes.mutableSpan
    // The name is NUL-terminated for the call; pointer and room belong together and live until it returns.
    let count = unsafe output.withMutableCBytes { start, room in
      unsafe ccrypto_number(library.table, pointer, name, start, Int32(room))
    }
    guard count > 0 else { throw .damaged }
    bytes.removeLast(bytes.count - Int(count))
    return bytes
  }

  /// The private key as DER.
  ///
  /// - Throws: `KeyFault.secretMemoryExhausted`, `.failed`.
  func privateDER() throws(KeyFault) -> Secret {
    // Without room nothing is written; the pointer is not used then.
    let size = unsafe ccrypto_write(library.table, pointer, nil, 0)
    guard size > 0 else { throw .failed }
    do throws(SecretInitializationFailure<KeyFault>) {
      return try Secret(byteCount: Int(size)) { output throws(KeyFault) in
        // Pointer and room belong together and live until the call returns.
        let written = unsafe output.withMutableCBytes { start, room in
          unsafe ccrypto_write(library.table, pointer, start, Int32(room))
        }
        guard written == size else { throw .failed }
      }
    } catch {
      if case .body(let fault) = error { throw fault }
      throw .secretMemoryExhausted
    }
  }

  /// The signature of a message, as libcrypto gives it: ECDSA's in DER.
  ///
  /// - Throws: `KeyFault.failed`.
  func sign(_ message: Span<UInt8>) throws(KeyFault) -> [UInt8] {
    var signature = [UInt8](repeating: 0, count: Self.longestNumber)
    var output = signature.mutableSpan
    // Each pointer and its count belong together, and live until the closures return.
    let count = unsafe output.withMutableCBytes { signature, room in
      unsafe message.withCBytes { message, count in
        unsafe ccrypto_sign(library.table, pointer, message, count, signature, room)
      }
    }
    guard count > 0 else { throw .failed }
    signature.removeLast(signature.count - count)
    return signature
  }

  /// Whether a signature in libcrypto's form is this key's.
  func isValid(_ signature: Span<UInt8>, for message: Span<UInt8>) -> Bool {
    // As above.
    unsafe signature.withCBytes { signature, size in
      unsafe message.withCBytes { message, count in
        unsafe ccrypto_verify(library.table, pointer, message, count, signature, size) == 1
      }
    }
  }
}
