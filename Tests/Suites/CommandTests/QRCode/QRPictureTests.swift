import TestSupport
import Testing

@testable import authbroker

/// QR codes as a terminal shows them.
@Suite(.standardTimeLimit) struct QRPictureTests {
  private static func code(_ text: String) throws -> QRCode {
    let code = QRCode(text.utf8.span)
    return try #require(code)
  }

  /// The rows of modules that a picture shows, light ones as true.
  private static func rows(_ lines: [String]) -> [[Bool]] {
    lines.flatMap { line in [line.map { "█▀".contains($0) }, line.map { "█▄".contains($0) }] }
  }

  @Test func `every module is shown, with a light margin around them`() throws {
    let code = try Self.code("otpauth://totp/A:b?secret=GEZDGNBVGY3TQOJQ&issuer=A")
    let rows = Self.rows(QRPicture.lines(code, isColoured: false))
    #expect(rows.count == code.size + 5)
    for (y, row) in rows.enumerated() {
      #expect(row.count == code.size + 4)
      for (x, isLight) in row.enumerated() { #expect(isLight != code.isDark(x - 2, y - 2)) }
    }
  }

  @Test func `with colours it is black on white, and each line sets the terminal right`() throws {
    let code = try Self.code("abc")
    let plain = QRPicture.lines(code, isColoured: false)
    #expect(QRPicture.lines(code, isColoured: true) == plain.map { "\u{1B}[97;40m\($0)\u{1B}[0m" })
  }
}
