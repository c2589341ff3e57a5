/// Finds the word that was probably meant.
enum Spelling {
  /// The word that is fewest edits away; nil if none is near.
  static func nearest(to word: String, among words: [String]) -> String? {
    let limit = max(2, word.utf8.count / 3)
    let near = words.map { (word: $0, edits: distance(word, $0)) }.filter { $0.edits <= limit }
    return near.min { $0.edits < $1.edits }?.word ?? words.first { $0.hasPrefix(word) && word.utf8.count > 2 }
  }

  /// How many characters must be changed, added or left out (Levenshtein).
  private static func distance(_ left: String, _ right: String) -> Int {
    let right = Array(right.utf8)
    var row = Array(0...right.count)
    for (index, byte) in left.utf8.enumerated() {
      var diagonal = row[0]
      row[0] = index + 1
      for column in right.indices {
        let change = diagonal + (byte == right[column] ? 0 : 1)
        diagonal = row[column + 1]
        row[column + 1] = min(change, row[column] + 1, diagonal + 1)
      }
    }
    return row[right.count]
  }
}
