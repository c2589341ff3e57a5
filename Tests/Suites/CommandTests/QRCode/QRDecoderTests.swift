import Glibc
import TestSupport
import Testing

@testable import authbroker

/// QR codes as another program reads them, `zbarimg` of the ZBar tools.
@Suite(.standardTimeLimit) struct QRDecoderTests {
  private static let decoder = "/usr/bin/zbarimg"
  /// What a phone needs at least: each module as a square of pixels, and the margin of the standard.
  private static let (scale, margin) = (4, 4)

  /// All versions that an address may need, and some beyond.
  private static let versions = Array(1...16) + [20, 27, 32, 40]

  /// A code as an image (pbm(5), the plain format).
  private static func image(_ code: QRCode) -> String {
    let range = -margin..<(code.size + margin)
    let rows = range.flatMap { y in
      let row = range.map { x in String(repeating: code.isDark(x, y) ? "1" : "0", count: scale) }.joined()
      return [String](repeating: row, count: scale)
    }
    return "P1\n\(range.count * scale) \(range.count * scale)\n\(rows.joined(separator: "\n"))\n"
  }

  @Test(.enabled(if: access(decoder, X_OK) == 0, "zbarimg is not installed"))
  func `another program reads codes of all sizes`() throws {
    let scratch = Scratch()
    var generator = SeededGenerator(seed: 18_004)
    var files: [String] = []
    var texts: [String] = []
    for number in Self.versions {
      let version = QRVersion(number: number)
      let capacity = version.dataCodewordCount - (version.lengthBitCount == 8 ? 2 : 3)
      let text = String(
        decoding: (0..<capacity).map { _ in UInt8.random(in: 0x21...0x7E, using: &generator) }, as: UTF8.self)
      let encoded = QRCode(text.utf8.span)
      let code = try #require(encoded)
      #expect(code.size == version.size)
      try scratch.write(Self.image(code), to: "\(number).pbm")
      files.append(scratch.file("\(number).pbm"))
      texts.append(text)
    }
    let read = try output(of: [Self.decoder, "--quiet", "--raw", "--nodbus"] + files)
    #expect(read.split(separator: "\n").map(String.init) == texts)
  }
}
