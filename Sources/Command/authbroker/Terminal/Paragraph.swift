/// Text for people in lines that fit a terminal.
///
/// A line that begins with a blank stays as it is: it is a command, or a picture, which a break would spoil.
struct Paragraph {
  /// The words before the text, such as a profile's name; they stand on its first line.
  var lead = ""
  /// The number of blanks before each further line.
  var indent = 2
  /// The width of the terminal; nil where there is none: then no line is broken.
  let columns: Int?

  /// Fewer columns than these are not reckoned with: nearly every word would have a line of its own.
  private static let narrowest = 20

  /// The text in lines, the lead on the first one.
  func lines(_ text: String) -> [String] {
    var lines: [String] = []
    for line in text.split(separator: "\n", omittingEmptySubsequences: false) {
      let start = lines.isEmpty ? lead : String(repeating: " ", count: max(0, indent - 2))
      let isWhole = columns.map { start.count + line.count <= $0 } ?? true
      if isWhole || line.hasPrefix(" ") { lines.append(start + line) } else { lines += filled(line, behind: start) }
    }
    return lines
  }

  /// Words in lines of a width; a longer word has a line of its own.
  private func filled(_ text: Substring, behind start: String) -> [String] {
    let width = max(columns ?? .max, Self.narrowest)
    let blanks = String(repeating: " ", count: indent)
    var (lines, isAtStart) = ([start], true)
    for word in text.split(separator: " ") {
      let last = lines[lines.count - 1]
      let needed = last.count + (isAtStart ? 0 : 1) + word.count
      if isAtStart || needed <= width {
        lines[lines.count - 1] = last + (isAtStart ? "" : " ") + word
      } else {
        lines.append(blanks + word)
      }
      isAtStart = false
    }
    return lines
  }
}
