extension Span<UInt8> {
  /// Lends the bytes to C, which wants a pointer even where there are none: for an empty span it points at one byte
  /// that must not be read.
  ///
  /// - Parameter body: the pointer is valid until it returns.
  /// - Returns: what `body` returns.
  @unsafe
  package func withCBytes<R>(_ body: (_ start: UnsafePointer<UInt8>, _ count: Int) -> R) -> R {
    // Pointer and count come from the same buffer.
    unsafe withUnsafeBufferPointer { buffer in
      // As above; the stand-in for an empty buffer lives as long as the call.
      guard let start = buffer.baseAddress else { return unsafe withUnsafePointer(to: 0) { unsafe body($0, 0) } }
      return unsafe body(start, buffer.count)
    }
  }

  /// As ``withCBytes(_:)``, for functions that take their bytes as C characters.
  ///
  /// - Parameter body: the pointer is valid until it returns.
  /// - Returns: what `body` returns.
  @unsafe
  func withCCharacters<R>(_ body: (_ start: UnsafePointer<CChar>, _ count: Int) -> R) -> R {
    // Characters and bytes have the same layout; pointer and length belong together.
    unsafe withCBytes { start, count in
      unsafe body(UnsafeRawPointer(start).assumingMemoryBound(to: CChar.self), count)
    }
  }
}

extension MutableSpan<UInt8> {
  /// Lends the bytes to C for writing; as for a `Span`, the pointer is never null.
  ///
  /// - Parameter body: the pointer is valid until it returns.
  /// - Returns: what `body` returns.
  @unsafe
  package mutating func withMutableCBytes<R>(_ body: (_ start: UnsafeMutablePointer<UInt8>, _ count: Int) -> R) -> R {
    // Pointer and count come from the same buffer.
    unsafe withUnsafeMutableBufferPointer { buffer in
      guard let start = buffer.baseAddress else {
        var standIn: UInt8 = 0
        // The stand-in for an empty buffer lives as long as the call.
        return unsafe withUnsafeMutablePointer(to: &standIn) { unsafe body($0, 0) }
      }
      // As above.
      return unsafe body(start, buffer.count)
    }
  }
}
