/// The most common passwords, which are guessed first (SP 800-63B-4, section 3.1.1.2).
///
/// They are the most frequent ones with at least 8 characters from the list by Royce Williams in Django
/// (`django.contrib.auth`, BSD-3-Clause): more than the 3,000 that OWASP ASVS 5.0 requires (6.2.4), without slurs and
/// without those that ``PasswordPattern`` finds.
enum CommonPasswords {
  /// The parts of the list, each in the order of its bytes: words in small letters, each followed by one blank or line end.
  static let parts = [upToL, fromM]

  /// Whether they contain a password, which must be in small letters.
  static func contain(_ password: Span<UInt8>) -> Bool {
    parts.contains { contains(password, in: $0.utf8.span) }
  }

  /// Searches by halves, each time from the beginning of the word in the middle.
  private static func contains(_ word: Span<UInt8>, in words: Span<UInt8>) -> Bool {
    var (low, high) = (0, words.count)
    while low < high {
      var start = (low + high) / 2
      while start > low, !isBlank(words[start - 1]) { start -= 1 }
      var end = start
      while end < high, !isBlank(words[end]) { end += 1 }
      let middle = words.extracting(start..<end)
      if middle.isEqual(to: word) { return true }
      if middle.precedes(word) { low = end + 1 } else { high = start }
    }
    return false
  }

  private static func isBlank(_ byte: UInt8) -> Bool { byte == 0x20 || byte == 0x0A }
}

extension Span<UInt8> {
  fileprivate func isEqual(to other: Self) -> Bool {
    count == other.count && indices.allSatisfy { self[$0] == other[$0] }
  }

  fileprivate func precedes(_ other: Self) -> Bool {
    for index in 0..<Swift.min(count, other.count) where self[index] != other[index] {
      return self[index] < other[index]
    }
    return count < other.count
  }
}
