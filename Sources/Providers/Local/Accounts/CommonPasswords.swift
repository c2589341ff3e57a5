/// The most common passwords, which are guessed first (SP 800-63B-4, section 3.1.1.2).
///
/// They are the most frequent ones with at least 8 characters from the list by Royce Williams in Django
/// (`django.contrib.auth`, BSD-3-Clause): more than the 3,000 that OWASP ASVS 5.0 requires (6.2.4), without slurs and
/// without those that ``PasswordPattern`` finds.
enum CommonPasswords {
  /// The list, in the order of its bytes: words in small letters, each on a line.
  static var list: [UInt8] { PackageResources.CommonPasswords_txt }

  /// Whether they contain a password, which must be in small letters.
  ///
  /// Searches by halves, each time from the beginning of the word in the middle.
  static func contain(_ word: Span<UInt8>) -> Bool {
    let words = list.span
    var (low, high) = (0, words.count)
    while low < high {
      var start = (low + high) / 2
      while start > low, words[start - 1] != newline { start -= 1 }
      var end = start
      while end < high, words[end] != newline { end += 1 }
      let middle = words.extracting(start..<end)
      if middle.isEqual(to: word) { return true }
      if middle.precedes(word) { low = end + 1 } else { high = start }
    }
    return false
  }

  private static let newline = UInt8(ascii: "\n")
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
