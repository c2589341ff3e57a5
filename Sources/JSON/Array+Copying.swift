extension Array where Element: BitwiseCopyable {
  /// A copy of memory, made at once: as a sequence it would be copied element by element.
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
