import TestSupport
import Testing

@testable import StateDirectory

/// Which versions may speak to each other without a word; the build of a test is one whose commit is not known.
@Suite(.standardTimeLimit) struct ProgramVersionTests {
  @Test func `a build that was not told its version has the number, and says so`() {
    #expect(ProgramVersion.current == ProgramVersion.number + "+dev")
  }

  @Test func `it agrees with every build of its minor version`() {
    let minor = ProgramVersion.number.split(separator: ".").prefix(2).joined(separator: ".")
    for other in ["\(minor).0", "\(minor).9-dev+0123456789ab", "\(minor).0-dev+0123456789ab.dirty", "\(minor).7+dev"] {
      #expect(ProgramVersion.agrees(with: other))
    }
    for other in ["0.1.0", "0.1.0+dev", "\(minor)9.0", "9.\(minor).0", "", "+dev", "\(minor)"] {
      #expect(!ProgramVersion.agrees(with: other), "\(other)")
    }
  }
}
