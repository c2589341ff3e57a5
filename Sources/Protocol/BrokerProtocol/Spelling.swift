/// Finds the known word that a misspelt one was meant to be.
package enum Spelling {
  /// The known word with the fewest edits; nil where none is near.
  ///
  /// Words that differ in case, `_` or `-` alone are the nearest: `base_url` is `baseUrl`. More than half of a word must be
  /// as it was written: `fax` is not `off`.
  package static func nearest(to word: String, among words: [String]) -> String? {
    if let same = same(as: word, among: words) { return same }
    let written = letterCount(word)
    let limit = max(2, written / 3)
    let near = words.map { (word: $0, edits: distance(word, $0)) }
      .filter { $0.edits <= limit && 2 * $0.edits < min(written, letterCount($0.word)) }
    return near.min { $0.edits < $1.edits }?.word ?? words.first { $0.hasPrefix(word) && word.utf8.count > 2 }
  }

  /// How long a word is without the dashes of an option.
  private static func letterCount(_ word: String) -> Int { word.utf8.drop { $0 == UInt8(ascii: "-") }.count }

  /// One sentence about a word that is not known, with the one that was probably meant.
  ///
  /// The word itself is not repeated: it may be a secret in the wrong place.
  ///
  /// - Parameters:
  ///   - kind: what the word would be, such as `method`.
  ///   - word: the word.
  ///   - words: those that are known.
  /// - Returns: the sentence.
  package static func sentence(onUnknown kind: String, _ word: String, among words: [String]) -> String {
    guard word.utf8.count <= longestWord, let nearest = nearest(to: word, among: words) else {
      return "Unknown \(kind)."
    }
    return "Unknown \(kind); did you mean \"\(nearest)\"?"
  }

  /// A longer word is like no other, and comparing it takes long.
  private static let longestWord = 64

  /// The known word that differs in case, `_` or `-` alone; nil where there is none.
  package static func same(as word: String, among words: [String]) -> String? {
    let folded = folded(word)
    return words.first { Self.folded($0) == folded }
  }

  private static func folded(_ word: String) -> [UInt8] {
    word.lowercased().utf8.filter { $0 != UInt8(ascii: "_") && $0 != UInt8(ascii: "-") }
  }

  /// How many characters must be changed, added, left out or exchanged with their neighbour (Damerau and Levenshtein,
  /// in the form of the optimal string alignment).
  private static func distance(_ left: String, _ right: String) -> Int {
    let (left, right) = (Array(left.utf8), Array(right.utf8))
    var beforeLast: [Int] = []
    var last = Array(0...right.count)
    for row in left.indices {
      var current = [row + 1]
      for column in right.indices {
        var edits = min(last[column + 1], current[column]) + 1
        edits = min(edits, last[column] + (left[row] == right[column] ? 0 : 1))
        if row > 0, column > 0, left[row] == right[column - 1], left[row - 1] == right[column] {
          edits = min(edits, beforeLast[column - 1] + 1)
        }
        current.append(edits)
      }
      (beforeLast, last) = (last, current)
    }
    return last[right.count]
  }
}
