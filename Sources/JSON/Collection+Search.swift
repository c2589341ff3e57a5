// The standard library's own search is a part of it that Embedded Swift has not.
extension Collection where Element: Equatable {
  /// Where some elements stand the first time, in a row; nil where they do not.
  package func range<Wanted: Collection>(ofFirst wanted: Wanted) -> Range<Index>? where Wanted.Element == Element {
    var start = startIndex
    while true {
      var (place, next) = (start, wanted.startIndex)
      while next != wanted.endIndex, place != endIndex, self[place] == wanted[next] {
        formIndex(after: &place)
        wanted.formIndex(after: &next)
      }
      if next == wanted.endIndex { return start..<place }
      guard start != endIndex else { return nil }
      formIndex(after: &start)
    }
  }
}

extension StringProtocol {
  /// Where a text stands the first time, byte by byte; nil where it does not.
  package func range(ofText text: String) -> Range<Index>? { utf8.range(ofFirst: text.utf8) }

  /// Whether a text is a part of it, byte by byte.
  package func holds(_ text: String) -> Bool { range(ofText: text) != nil }
}
