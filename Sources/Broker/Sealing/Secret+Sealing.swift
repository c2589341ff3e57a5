package import SecretMemory
import TextCoding

extension Secret {
  /// Makes a secret with a closure that fails with a `SealingError`, and says so when the arena is full.
  ///
  /// - Throws: `SealingError.secretMemoryExhausted`, or what `body` throws.
  static func filling(
    byteCount: Int, with body: (inout MutableSpan<UInt8>) throws(SealingError) -> Void
  ) throws(SealingError) -> Secret {
    do throws(SecretInitializationFailure<SealingError>) {
      return try Secret(byteCount: byteCount, initializingWith: body)
    } catch {
      switch error {
      case .exhausted: throw .secretMemoryExhausted
      case .body(let failure): throw failure
      }
    }
  }

  /// The bytes that characters of base64url stand for, straight into locked memory.
  ///
  /// - Throws: `SealingError.malformed` for what is no base64url, `.secretMemoryExhausted`.
  package static func decodeBase64URL(_ text: Span<UInt8>) throws(SealingError) -> Secret {
    try filling(byteCount: Base64.byteCount(ofURLForm: text.count)) { output throws(SealingError) in
      guard Base64.decodeURLForm(text, into: &output) else { throw .malformed }
    }
  }
}
