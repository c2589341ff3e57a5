// The standard library's own search belongs to its regular expressions: Embedded Swift has none, and they would make the
// daemon's file larger by a megabyte.
extension Collection where Element: Equatable {
  /// The range of the first occurrence of some elements in a row; nil where there is none, or nothing is searched for.
  public func firstOccurrence<Wanted: Collection>(of wanted: Wanted) -> Range<Index>?
  where Wanted.Element == Element {
    guard let first = wanted.first else { return nil }
    var start = startIndex
    while let found = self[start...].firstIndex(of: first) {
      var (place, next) = (found, wanted.startIndex)
      while next != wanted.endIndex, place != endIndex, self[place] == wanted[next] {
        formIndex(after: &place)
        wanted.formIndex(after: &next)
      }
      if next == wanted.endIndex { return found..<place }
      start = index(after: found)
    }
    return nil
  }
}

extension StringProtocol {
  /// The range of a string's first occurrence in this one, byte by byte; nil where there is none, or the string is
  /// empty.
  public func firstOccurrence(of part: String) -> Range<Index>? { utf8.firstOccurrence(of: part.utf8) }

  /// Whether a string occurs in this one, byte by byte.
  public func includes(_ part: String) -> Bool { firstOccurrence(of: part) != nil }
}
