/// The first blank line of a text that grows: no byte is looked at twice.
struct BlankLine {
  private var searched = 0

  /// Looks at what has come since the last call.
  ///
  /// - Parameter bytes: the text so far, which begins with what it was before.
  /// - Returns: how long the text is up to that line's end; nil where there is none yet.
  mutating func end(in bytes: [UInt8]) -> Int? {
    let newline = UInt8(ascii: "\n")
    for index in searched..<max(searched, bytes.count) where bytes[index] == newline {
      if index == 0 || bytes[index - 1] == newline { return index + 1 }
    }
    searched = bytes.count
    return nil
  }
}
