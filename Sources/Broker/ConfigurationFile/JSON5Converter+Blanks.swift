/// White space and comments (https://spec.json5.org/#white-space, https://spec.json5.org/#comments).
extension JSON5Converter {
  /// Skips white space and comments.
  mutating func skipBlanks() throws(JSON5Error) {
    while position < source.count {
      let length = blankLength(at: position)
      if length > 0 {
        position += length
      } else if source[position] == UInt8(ascii: "/") {
        try skipComment()
      } else {
        return
      }
    }
  }

  private mutating func skipComment() throws(JSON5Error) {
    let start = position
    guard start + 1 < source.count else { throw unexpectedCharacter(at: start) }
    switch source[start + 1] {
    case UInt8(ascii: "/"):
      while position < source.count, lineEndLength(at: position) == 0 { position += 1 }
    case UInt8(ascii: "*"):
      position += 2
      while !(position + 1 < source.count && source[position] == 0x2A && source[position + 1] == 0x2F) {
        guard position < source.count else { throw JSON5Error("a comment is not closed", at: start) }
        position += 1
      }
      position += 2
    default: throw unexpectedCharacter(at: start)
    }
  }

  /// How many bytes the white space at `place` has; 0 where there is none.
  func blankLength(at place: Int) -> Int {
    switch source[place] {
    case 0x09, 0x0A, 0x0B, 0x0C, 0x0D, 0x20: return 1
    case 0xC2: return matches([0xC2, 0xA0], at: place) ? 2 : 0
    case 0xE1...0xEF: break
    default: return 0
    }
    let spaces: [[UInt8]] = [
      [0xE1, 0x9A, 0x80], [0xE2, 0x80, 0xA8], [0xE2, 0x80, 0xA9], [0xE2, 0x80, 0xAF], [0xE2, 0x81, 0x9F],
      [0xE3, 0x80, 0x80], [0xEF, 0xBB, 0xBF],
    ]
    if spaces.contains(where: { matches($0, at: place) }) { return 3 }
    // U+2000 to U+200A.
    guard matches([0xE2, 0x80], at: place), place + 2 < source.count else { return 0 }
    return (0x80...0x8A).contains(source[place + 2]) ? 3 : 0
  }

  /// How many bytes the end of a line at `place` has, CR LF being one end; 0 where there is none.
  func lineEndLength(at place: Int) -> Int {
    switch source[place] {
    case 0x0A: 1
    case 0x0D: matches([0x0D, 0x0A], at: place) ? 2 : 1
    case 0xE2: matches([0xE2, 0x80, 0xA8], at: place) || matches([0xE2, 0x80, 0xA9], at: place) ? 3 : 0
    default: 0
    }
  }

  private func matches(_ bytes: [UInt8], at place: Int) -> Bool {
    place + bytes.count <= source.count && source[place..<place + bytes.count].elementsEqual(bytes)
  }
}
