extension Span<UInt8> {
  /// Whether an entry is a string that stands for an ASCII word, with escapes or without.
  ///
  /// `"\u0069d"` names the same member as `"id"`: a reader that passed over it would take a request for a notification.
  @inlinable
  package func spells(_ word: StaticString, _ entry: JSONTape.Entry) -> Bool {
    switch entry.kind {
    case .string: return matches(word, entry.range)
    case .escapedString:
      let bytes = JSONTape.unescaped(entry, in: self)
      return bytes.span.matches(word, bytes.indices)
    default: return false
    }
  }

  /// Whether the bytes of a range are those of an ASCII word.
  @inlinable
  public func matches(_ word: StaticString, _ range: Range<Int>) -> Bool {
    guard range.count == word.utf8CodeUnitCount else { return false }
    for offset in 0..<range.count {
      // A static string's storage lives for ever, and the offset stays inside its code units.
      let expected = unsafe word.utf8Start[offset]
      guard self[range.lowerBound + offset] == expected else { return false }
    }
    return true
  }
}
