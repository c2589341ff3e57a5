import Sealing
import SecretMemory
import TestSupport
import Testing

@testable import LocalProvider

/// Backup codes as they are drawn, shown and typed.
@Suite(.standardTimeLimit) struct BackupCodesTests {
  private static func normalized(_ typed: String) throws -> String? {
    try BackupCodes.normalized(Secret(utf8: typed))?.revealedString()
  }

  @Test func `an account gets ten different codes`() throws {
    try Sealing.initialize()
    let codes = try BackupCodes.generate().compactMap { $0.revealedString() }
    #expect(codes.count == 10 && Set(codes).count == 10)
    #expect(codes.allSatisfy { $0.utf8.count == 10 })
  }

  @Test func `a code is shown in two groups, and typed so it is the same`() throws {
    try Sealing.initialize()
    for code in try BackupCodes.generate() {
      let shown = try #require(try BackupCodes.formatted(code).revealedString())
      #expect(shown.utf8.count == 11 && Array(shown.utf8)[5] == UInt8(ascii: "-"))
      #expect(try BackupCodes.normalized(Secret(utf8: shown)) == code)
    }
  }

  @Test func `every character of the alphabet is drawn, about as often as any other`() throws {
    try Sealing.initialize()
    var counts: [Character: Int] = [:]
    for _ in 0..<620 {
      for code in try BackupCodes.generate() {
        for character in code.revealedString() ?? "" { counts[character, default: 0] += 1 }
      }
    }
    #expect(Set(counts.keys) == Set("23456789abcdefghjkmnpqrstuvwxyz"))
    // 2,000 are expected of each, with a standard deviation of 44: seven of them hardly ever happen.
    #expect(counts.values.allSatisfy { (1690...2310).contains($0) }, "\(counts)")
  }

  @Test(arguments: [
    "abcde-fgh23", "ABCDE-FGH23", " abcde fgh23\n", "abc-def-gh23", "abcde\u{2013}fgh23", "abcde\u{A0}\u{2212}fgh23",
  ])
  func `blanks, dashes and capitals make no difference`(_ typed: String) throws {
    #expect(try Self.normalized(typed) == "abcdefgh23")
  }

  @Test(arguments: ["", "-", "abcde-fgh2", "abcde-fgh234", "abcde-fgh20", "abcde-fghl2", "abcde-fgh2\u{E9}", "123456"])
  func `what cannot be a code is told apart from a wrong one`(_ typed: String) throws {
    #expect(try Self.normalized(typed) == nil)
  }
}
