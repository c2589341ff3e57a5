extension Array where Element: BitwiseCopyable {
  /// A copy of memory, made at once: as a sequence it would be copied element by element.
  package init(copying elements: Span<Element>) {
    self.init()
    append(copying: elements)
  }

  /// Appends a copy of memory, made at once.
  package mutating func append(copying elements: Span<Element>) {
    // The memory is lent for the length of the call, which copies it.
    unsafe elements.withUnsafeBufferPointer { unsafe append(contentsOf: $0) }
  }
}
