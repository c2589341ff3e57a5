/// Why something could not be sealed, opened, hashed or decoded.
///
/// The cases say what the caller should do, not what the bytes were: nothing here depends on a secret.
package enum SealingError: Error, Equatable, CustomStringConvertible {
  /// libsodium did not initialise, or its answer to a known question was wrong: the process must not go on.
  case libraryUnavailable
  /// The kernel gave no memory for secrets.
  case secretMemoryUnavailable
  /// The bytes do not have the shape that is asked for: too short, of the wrong length, not Base64.
  case malformed
  /// The envelope names a version or an algorithm that this program does not know; it is never guessed.
  case unsupportedFormat
  /// The envelope was sealed under another key.
  case wrongKey
  /// The bytes or their associated data are not those that were sealed: damaged, moved or forged.
  case notAuthentic
  /// A password hash asks for more work or memory than this program grants, or the memory is not there.
  case resourceLimit
  /// The arena for secrets is full; it has room again when other secrets are released.
  case secretMemoryExhausted

  /// One constant sentence per case.
  package var description: String {
    switch self {
    case .libraryUnavailable: "The cryptographic library failed its self-test."
    case .secretMemoryUnavailable: "The kernel gives no memory for secrets (mmap(2), mprotect(2))."
    case .malformed: "The sealed data is malformed."
    case .unsupportedFormat: "The sealed data has an unknown version or algorithm."
    case .wrongKey: "The data was sealed under another key."
    case .notAuthentic: "The sealed data is not authentic."
    case .resourceLimit: "The password hash needs more resources than are granted."
    case .secretMemoryExhausted: "The locked memory for secrets is full."
    }
  }
}
