extension Array where Element: BitwiseCopyable {
  /// A copy of memory, which no initializer makes of a span: it is no sequence.
  @inlinable
  package init(copying elements: Span<Element>) {
    // The memory is lent for the length of the call, and the room is as large as it is.
    unsafe self = elements.withUnsafeBufferPointer { source in
      // As above.
      unsafe Array(unsafeUninitializedCapacity: source.count) { room, count in
        // As above.
        count = unsafe room.initialize(fromContentsOf: source)
      }
    }
  }
}
