import LinuxSystem
import SecretMemory

/// A secret as a file or a program gives it: its text, and maybe the end of its line.
enum RetrievedSecret {
  /// The most bytes of a secret: a key in hexadecimal has 64, a passphrase a few dozen, and a wrong path or a program
  /// that prints something else is noticed.
  static let byteLimit = 4096

  /// Why a file's contents are not taken.
  enum Refusal: Error {
    /// There are more bytes than the limit.
    case tooLong
    /// The system refused.
    case failed(Errno)
  }

  /// Reads an open file to its end, into locked memory.
  ///
  /// - Returns: memory that begins with the contents, and how many bytes these are.
  /// - Throws: ``Refusal``; `SecretMemoryExhausted`.
  static func contents(
    of file: borrowing FileDescriptor, limit: Int
  ) throws -> (buffer: Secret, count: Int) {
    var filled = 0
    do throws(SecretInitializationFailure<Refusal>) {
      let buffer = try Secret(byteCount: limit + 1) { target throws(Refusal) in
        while true {
          switch file.read(into: &target, at: filled) {
          case .bytes(let count): filled += count
          case .endOfStream: return
          case .failed(let error): throw .failed(error)
          case .wouldBlock: throw .failed(.again)
          }
          guard filled <= limit else { throw .tooLong }
        }
      }
      return (buffer, filled)
    } catch {
      switch error {
      case .exhausted: throw SecretMemoryExhausted()
      case .body(let refusal): throw refusal
      }
    }
  }

  /// The secret without one newline at its end; nil where nothing is left.
  ///
  /// - Throws: `SecretMemoryExhausted`.
  static func trimmed(_ buffer: Secret, count: Int) throws(SecretMemoryExhausted) -> Secret? {
    try buffer.withBytes { bytes throws(SecretMemoryExhausted) in
      var bytes = bytes.extracting(first: count)
      if !bytes.isEmpty, bytes[bytes.count - 1] == UInt8(ascii: "\n") { bytes = bytes.extracting(droppingLast: 1) }
      return bytes.isEmpty ? nil : try Secret(copying: bytes)
    }
  }
}
