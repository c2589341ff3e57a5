extension Span<UInt8> {
  /// The eight bytes from a position on, the first one lowest.
  @inlinable @inline(__always)
  func word(at position: Int) -> UInt64 {
    // Any eight bytes are a number, and that they are inside the span is checked by the call.
    unsafe UInt64(littleEndian: bytes.unsafeLoadUnaligned(fromByteOffset: position, as: UInt64.self))
  }

  /// Whether the bytes from a position on are those of another span.
  @inlinable
  package func hasSameBytes(as other: Span<UInt8>, at position: Int) -> Bool {
    guard other.count <= count - position else { return false }
    var offset = 0
    while offset + 8 <= other.count {
      guard word(at: position + offset) == other.word(at: offset) else { return false }
      offset += 8
    }
    while offset < other.count {
      guard self[position + offset] == other[offset] else { return false }
      offset += 1
    }
    return true
  }

  /// The position of the next line feed before `end`; nil where there is none.
  @inlinable
  package func firstLineFeed(from start: Int, before end: Int) -> Int? {
    var position = start
    while position + 8 <= end {
      let bytes = word(at: position) ^ 0x0A0A_0A0A_0A0A_0A0A
      // The highest bit of each byte that is zero; the lowest one of them is exact.
      let feeds = (bytes &- 0x0101_0101_0101_0101) & ~bytes & 0x8080_8080_8080_8080
      if feeds != 0 { return position + feeds.trailingZeroBitCount >> 3 }
      position += 8
    }
    while position < end {
      if self[position] == 0x0A { return position }
      position += 1
    }
    return nil
  }

  /// Whether an entry is a string that stands for an ASCII word, with escapes or without.
  ///
  /// `"\u0069d"` names the same member as `"id"`: a reader that passed over it would take a request for a notification.
  @inlinable @inline(__always)
  package func spells(_ word: StaticString, _ entry: JSONTape.Entry) -> Bool {
    switch entry.kind {
    case .string: return matches(word, entry.range)
    case .escapedString: return spellsWithEscapes(word, entry)
    default: return false
    }
  }

  /// Whether a string with escapes stands for an ASCII word.
  @usableFromInline
  func spellsWithEscapes(_ word: StaticString, _ entry: JSONTape.Entry) -> Bool {
    let bytes = JSONTape.unescaped(entry, in: self)
    return bytes.span.matches(word, bytes.indices)
  }

  /// Whether the bytes of a range are those of an ASCII word.
  @inlinable @inline(__always)
  public func matches(_ word: StaticString, _ range: Range<Int>) -> Bool {
    let count = word.utf8CodeUnitCount
    guard range.count == count else { return false }
    var offset = 0
    while offset + 8 <= count {
      // A static string's storage lives for ever, and the offset stays eight bytes before its end.
      let expected = unsafe UnsafeRawPointer(word.utf8Start).loadUnaligned(fromByteOffset: offset, as: UInt64.self)
      guard self.word(at: range.lowerBound + offset) == UInt64(littleEndian: expected) else { return false }
      offset += 8
    }
    while offset < count {
      // As above: the offset stays inside the string's code units.
      let expected = unsafe word.utf8Start[offset]
      guard self[range.lowerBound + offset] == expected else { return false }
      offset += 1
    }
    return true
  }
}
