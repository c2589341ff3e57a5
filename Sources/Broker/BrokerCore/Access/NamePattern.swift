/// A pattern for names, in which `*` stands for any characters, none included, and every other one for itself.
///
/// Its time grows with the length of the name times that of the pattern at most, whatever both are.
package struct NamePattern: Hashable, Sendable {
  /// The pattern as it is written.
  package let text: String

  /// A pattern as it is written.
  package init(_ text: String) { self.text = text }

  /// Whether a name is one of these.
  package func matches(_ name: String) -> Bool {
    let (star, pattern) = (UInt8(ascii: "*"), Array(text.utf8))
    return Wildcards.match(pattern, Array(name.utf8), isAny: { $0 == star }, fits: ==)
  }
}

/// Patterns of elements, some of which stand for any number of elements, none included.
enum Wildcards {
  /// Whether a text is one of a pattern's; the time grows with the length of the one times that of the other at most.
  ///
  /// - Parameters:
  ///   - pattern: the pattern.
  ///   - text: the text.
  ///   - isAny: whether an element of the pattern stands for any number of elements.
  ///   - fits: whether another one stands for an element of the text.
  /// - Returns: whether it is.
  static func match<Element, Pattern>(
    _ pattern: [Pattern], _ text: [Element], isAny: (Pattern) -> Bool, fits: (Pattern, Element) -> Bool
  ) -> Bool {
    var (index, place) = (0, 0)
    // Behind the last one that stands for any, and the place from which on the rest was tried.
    var retry: (index: Int, place: Int)?
    while place < text.count {
      if index < pattern.count, isAny(pattern[index]) {
        index += 1
        retry = (index, place)
      } else if index < pattern.count, fits(pattern[index], text[place]) {
        index += 1
        place += 1
      } else if let last = retry {
        index = last.index
        place = last.place + 1
        retry = (index, place)
      } else {
        return false
      }
    }
    return pattern[index...].allSatisfy(isAny)
  }
}
