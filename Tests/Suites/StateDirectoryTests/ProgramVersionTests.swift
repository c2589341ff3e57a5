import StateDirectory
import TestSupport
import Testing

@Suite(.standardTimeLimit) struct ProgramVersionTests {
  private static let number = ProgramVersion.number

  @Test func `what a build is called has more than the number`() {
    #expect(ProgramVersion.current.hasPrefix(Self.number + "+") && ProgramVersion.current != Self.number + "+")
  }

  @Test(arguments: [
    (ProgramVersion.current, true), (number + "+dev", true), ("0.1.0", false), ("0.1.0+dev", false), ("", false),
    (number + "0+dev", false),
  ])
  func `programs of one build speak to each other without a word, and those of other numbers do not`(
    _ other: String, _ agrees: Bool
  ) {
    #expect(ProgramVersion.agrees(with: other) == agrees)
  }
}
