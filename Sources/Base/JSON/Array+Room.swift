extension [UInt8] {
  /// Makes room for so many bytes more, and leaves nothing behind where the buffer has to move.
  ///
  /// An array that grows by itself releases its former storage as it is; a token that was on its way out in it would
  /// stay in memory until something else is written there.
  @inlinable
  package mutating func makeRoom(for byteCount: Int) {
    guard capacity - count < byteCount else { return }
    var larger: [UInt8] = []
    // Twice the size, so that a buffer that grows byte by byte is not copied more often than its length.
    larger.reserveCapacity(Swift.max(2 * capacity, count + byteCount))
    larger.append(contentsOf: self)
    for position in indices { self[position] = 0 }
    self = larger
  }

  /// Appends a copy of the span's bytes.
  @inlinable
  package mutating func append(copying bytes: Span<UInt8>) {
    // The buffer is valid inside the closure, and `append(contentsOf:)` copies it.
    unsafe bytes.withUnsafeBufferPointer { unsafe append(contentsOf: $0) }
  }

  /// Appends a copy of a word's bytes.
  @inlinable
  package mutating func append(copying word: StaticString) {
    // A static string's storage lives for ever, and has so many code units.
    unsafe append(contentsOf: UnsafeBufferPointer(start: word.utf8Start, count: word.utf8CodeUnitCount))
  }
}
