/// The result of one read or write.
///
/// It is a value and not an error, because on a non-blocking descriptor each of the cases is an everyday one.
package enum IOResult: Equatable, Sendable {
  /// So many bytes were moved, at least one.
  case bytes(Int)
  /// Nothing can be moved now.
  case wouldBlock
  /// The other end has finished (reads only).
  case endOfStream
  /// The descriptor cannot be used any more.
  case failed(Errno)

  /// Reads the shim's convention for a read: minus the error number, 0 at the end.
  init(reading result: Int64) {
    self = result == 0 ? .endOfStream : IOResult(writing: result)
  }

  /// Reads the shim's convention for a write.
  init(writing result: Int64) {
    if result >= 0 {
      self = .bytes(Int(result))
    } else if result == -Int64(Errno.again.code) {
      self = .wouldBlock
    } else {
      self = .failed(Errno(code: Int32(truncatingIfNeeded: -result)))
    }
  }
}
