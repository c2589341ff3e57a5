import SecretMemory
import TestSupport
import Testing

@testable import OIDCProvider

/// Proof Key for Code Exchange.
@Suite(.standardTimeLimit) struct CodeChallengeTests {
  @Test func `a challenge is that of RFC 7636, appendix B`() throws {
    let verifier = try Secret(utf8: "dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk")
    #expect(CodeChallenge.of(verifier) == "E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM")
  }

  @Test func `a verifier has 256 bits, and is another each time`() throws {
    let verifiers = try (0..<8).map { _ in try CodeChallenge.makeVerifier() }
    #expect(verifiers.allSatisfy { $0.byteCount == 43 })
    #expect(Set(verifiers.compactMap { $0.revealedString() }).count == 8)
  }
}
