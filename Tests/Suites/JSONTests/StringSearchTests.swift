import JSON
import TestSupport
import Testing

/// The search for a string in another one, byte by byte.
@Suite(.standardTimeLimit) struct StringSearchTests {
  @Test(arguments: [
    ("https://example.com", "://", 5), ("a:/b://c", "://", 4), ("::://", "://", 2), ("://", "://", 0), ("xä€y", "€", 3),
  ])
  func `a string is found where it begins first`(text: String, part: String, offset: Int) throws {
    let range = try #require(text.firstOccurrence(of: part))
    #expect(text.utf8.distance(from: text.startIndex, to: range.lowerBound) == offset)
    #expect(text[range] == part && text.includes(part))
    let rest = text[range.lowerBound...]
    #expect(rest.firstOccurrence(of: part)?.lowerBound == range.lowerBound)
  }

  @Test(arguments: [("", "a"), ("://", "//:"), ("ab", "abc"), (":/:/", "://"), ("a", "A"), ("abc", "")])
  func `a string that does not occur is not found`(text: String, part: String) {
    #expect(text.firstOccurrence(of: part) == nil && !text.includes(part))
  }
}
