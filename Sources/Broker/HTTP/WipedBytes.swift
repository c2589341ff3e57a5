import SecretMemory

/// Bytes that came from a server, wiped when the last reference is gone.
///
/// They do not lie in the locked arena, which is small and shared by all: a server that sends large bodies must not be
/// able to fill it. The secrets of a body go into `Secret`s of their own while the body is read.
package final class WipedBytes: Sendable {
  // Changed only by `deinit`, when no other reference is left.
  private nonisolated(unsafe) var bytes: [UInt8]

  /// Takes over collected bytes.
  ///
  /// - Parameter bytes: the only reference to their storage: the caller's array is empty afterwards.
  init(taking bytes: inout [UInt8]) {
    // No other reference to this object exists yet.
    unsafe self.bytes = []
    // As above.
    unsafe swap(&self.bytes, &bytes)
  }

  /// No bytes.
  static var none: WipedBytes {
    var bytes: [UInt8] = []
    return WipedBytes(taking: &bytes)
  }

  deinit {
    // The last reference is gone.
    unsafe wipe(&bytes)
  }

  /// How many bytes there are.
  package var count: Int {
    // Never changed after `init`.
    unsafe bytes.count
  }

  /// Lends the bytes.
  ///
  /// - Throws: what `body` throws.
  package func withBytes<R: ~Copyable, E: Error>(_ body: (Span<UInt8>) throws(E) -> R) throws(E) -> R {
    // Never changed after `init`.
    let bytes = unsafe self.bytes
    return try body(bytes.span)
  }

  /// Lends the bytes as an array, for a scanner that wants one.
  ///
  /// The array shares the storage. It must not be kept beyond the call, nor what refers to it (a `JSONDocument`): while
  /// there is another reference, the bytes cannot be wiped.
  ///
  /// - Throws: what `body` throws.
  package func withArray<R: ~Copyable, E: Error>(_ body: ([UInt8]) throws(E) -> R) throws(E) -> R {
    // Never changed after `init`.
    try unsafe body(bytes)
  }
}
