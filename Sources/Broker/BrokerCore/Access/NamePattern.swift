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
    let (pattern, name) = (Array(text.utf8), Array(name.utf8))
    var (index, place) = (0, 0)
    // Behind the last star, and the place from which on the rest was tried.
    var retry: (index: Int, place: Int)?
    while place < name.count {
      if index < pattern.count, pattern[index] == UInt8(ascii: "*") {
        index += 1
        retry = (index, place)
      } else if index < pattern.count, pattern[index] == name[place] {
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
    return pattern[index...].allSatisfy { $0 == UInt8(ascii: "*") }
  }
}
