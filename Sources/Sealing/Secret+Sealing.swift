import SecretMemory

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
}
