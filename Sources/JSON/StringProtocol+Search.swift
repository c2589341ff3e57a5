extension StringProtocol {
  /// Where a string occurs first in this one, byte by byte; nil where it does not, or is empty.
  ///
  /// The standard library's own search is a part of its regular expressions, which would make the daemon's file larger by
  /// a megabyte.
  public func firstOccurrence(of part: String) -> Range<Index>? {
    guard let first = part.utf8.first else { return nil }
    let bytes = utf8
    var start = bytes.startIndex
    while let next = bytes[start...].firstIndex(of: first) {
      if bytes[next...].starts(with: part.utf8) { return next..<bytes.index(next, offsetBy: part.utf8.count) }
      start = bytes.index(after: next)
    }
    return nil
  }

  /// Whether a string occurs in this one, byte by byte.
  public func includes(_ part: String) -> Bool { firstOccurrence(of: part) != nil }
}
