import TestSupport
import Testing

@testable import authbroker

/// QR codes, by the examples and tables of ISO/IEC 18004.
@Suite(.standardTimeLimit) struct QRCodeTests {
  private static func code(_ count: Int) -> QRCode? {
    let bytes = [UInt8](repeating: UInt8(ascii: "a"), count: count)
    return QRCode(bytes.span)
  }

  private static func data(_ text: String, _ version: Int) -> [UInt8] {
    QRCodewords.data(text.utf8.span, QRVersion(number: version))
  }

  @Test func `the codewords that correct errors are those of the standard's example, annex I`() {
    let data: [UInt8] = [
      0x10, 0x20, 0x0C, 0x56, 0x61, 0x80, 0xEC, 0x11, 0xEC, 0x11, 0xEC, 0x11, 0xEC, 0x11, 0xEC, 0x11,
    ]
    let errorCodewords = ReedSolomon(errorCodewordCount: 10).errorCodewords(of: data)
    #expect(errorCodewords == [0xA5, 0x24, 0xD4, 0xC1, 0xED, 0x36, 0xC7, 0x87, 0x2C, 0x55])
  }

  @Test func `the format's bits are those of the standard's example, section 7-9`() {
    #expect(QRMask(number: 5).formatBits == 0b100_0000_1100_1110)
  }

  @Test func `bytes stand behind their number, with padding after them`() {
    let end: [UInt8] = [0xEC, 0x11, 0xEC, 0x11, 0xEC, 0x11, 0xEC, 0x11, 0xEC, 0x11, 0xEC, 0x11]
    #expect(Self.data("ab", 1) == [0x40, 0x26, 0x16, 0x20] + end)
    #expect(Self.data("", 10).prefix(4) == [0x40, 0x00, 0x00, 0xEC])
  }

  /// Some rows of table 7: what each version holds in byte mode at level M.
  @Test(arguments: [
    (1, 14), (2, 26), (6, 106), (7, 122), (9, 180), (10, 213), (12, 287), (13, 331), (20, 666), (27, 1125), (32, 1538),
    (40, 2331),
  ])
  func `the smallest version that holds the bytes is taken`(_ version: Int, _ capacity: Int) {
    #expect(QRVersion.smallest(forByteCount: capacity)?.number == version)
    #expect(QRVersion.smallest(forByteCount: capacity + 1)?.number == (version < 40 ? version + 1 : nil))
  }

  @Test func `what no version holds has no code`() {
    #expect(Self.code(2331)?.size == 177)
    #expect(Self.code(2332) == nil)
  }

  /// Some rows of annex E.
  @Test(arguments: [
    (1, []), (2, [6, 18]), (7, [6, 22, 38]), (15, [6, 26, 48, 70]), (32, [6, 34, 60, 86, 112, 138]),
    (40, [6, 30, 58, 86, 114, 142, 170]),
  ])
  func `alignment patterns lie where the standard has them`(_ version: Int, _ centres: [Int]) {
    #expect(QRVersion(number: version).alignmentCentres == centres)
  }

  /// Dark as `#`, the upper left finder pattern of every code.
  @Test func `a finder pattern is in three corners`() throws {
    let pattern = ["#######.", "#.....#.", "#.###.#.", "#.###.#.", "#.###.#.", "#.....#.", "#######.", "........"]
    let code = try #require(Self.code(100))
    for (y, row) in pattern.enumerated() {
      for (x, character) in row.enumerated() {
        let isDark = character == "#"
        #expect(code.isDark(x, y) == isDark)
        #expect(code.isDark(code.size - 1 - x, y) == isDark)
        #expect(code.isDark(x, code.size - 1 - y) == isDark)
      }
    }
  }
}
