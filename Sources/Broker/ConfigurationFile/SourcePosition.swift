/// A place in a file that a person wrote, as editors count.
package struct SourcePosition: Sendable, Equatable, Comparable {
  /// The line, from 1.
  package var line: Int
  /// The character in its line, from 1.
  package var column: Int

  /// The place of a byte; lines end at LF, CR LF or CR, and columns count Unicode scalars, a byte order mark aside.
  init(ofByte offset: Int, in source: [UInt8]) {
    line = 1
    column = 1
    let start = source.starts(with: [0xEF, 0xBB, 0xBF]) ? 3 : 0
    for index in min(start, offset)..<min(offset, source.count) {
      let byte = source[index]
      if byte == 0x0A || (byte == 0x0D && (index + 1 >= source.count || source[index + 1] != 0x0A)) {
        line += 1
        column = 1
      } else if byte & 0xC0 != 0x80, byte != 0x0D {
        column += 1
      }
    }
  }

  package static func < (left: SourcePosition, right: SourcePosition) -> Bool {
    (left.line, left.column) < (right.line, right.column)
  }
}
