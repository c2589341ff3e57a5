/// A place in a file that a person wrote, as editors count.
package struct SourcePosition: Sendable, Equatable {
  /// The line, from 1.
  package var line: Int
  /// The character in its line, from 1.
  package var column: Int

  /// The place of a byte; lines end at LF, CR LF or CR, and columns count Unicode scalars.
  init(ofByte offset: Int, in source: [UInt8]) {
    line = 1
    column = 1
    for index in 0..<min(offset, source.count) {
      let byte = source[index]
      if byte == 0x0A || (byte == 0x0D && (index + 1 >= source.count || source[index + 1] != 0x0A)) {
        line += 1
        column = 1
      } else if byte & 0xC0 != 0x80, byte != 0x0D {
        column += 1
      }
    }
  }
}
