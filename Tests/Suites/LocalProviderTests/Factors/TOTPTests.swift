import BrokerProtocol
import SecretMemory
import TestSupport
import Testing

@testable import LocalProvider

/// Codes of authenticator apps: the standards' examples, the window, and that each works once.
@Suite(.standardTimeLimit) struct TOTPTests {
  /// The secret of both standards.
  private static func example(digits: Int) throws -> TOTP {
    TOTP(secret: try Secret(utf8: "12345678901234567890"), digits: digits)
  }

  private static func moment(_ seconds: Int64) -> Timestamp { Timestamp(milliseconds: seconds * 1000) }

  @Test(
    arguments: [
      (59, "94287082"), (1_111_111_109, "07081804"), (1_111_111_111, "14050471"), (1_234_567_890, "89005924"),
      (2_000_000_000, "69279037"), (20_000_000_000, "65353130"),
    ] as [(Int64, String)])
  func `codes are those of RFC 6238, appendix B`(_ seconds: Int64, _ code: String) throws {
    let totp = try Self.example(digits: 8)
    #expect(try totp.code(atStep: TOTP.step(at: Self.moment(seconds))).revealedString() == code)
  }

  @Test(
    arguments: zip(
      0..<10 as Range<Int64>,
      ["755224", "287082", "359152", "969429", "338314", "254676", "287922", "162583", "399871", "520489"]))
  func `codes are those of RFC 4226, appendix D`(_ step: Int64, _ code: String) throws {
    #expect(try Self.example(digits: 6).code(atStep: step).revealedString() == code)
  }

  @Test func `a code has as many digits as it should, zeros in front included`() throws {
    for digits in TOTP.digitCounts {
      let totp = try Self.example(digits: digits)
      #expect(try (0..<200).allSatisfy { try totp.code(atStep: $0).byteCount == digits })
    }
  }

  @Test func `a step begins each half minute, also before 1970`() {
    for (milliseconds, step) in [(0, 0), (29_999, 0), (30_000, 1), (-1, -1), (-30_000, -1), (-30_001, -2)] {
      #expect(TOTP.step(at: Timestamp(milliseconds: Int64(milliseconds))) == Int64(step))
    }
  }

  @Test(arguments: Int64(-3)...3)
  func `a code is accepted during its step and one before and after`(_ distance: Int64) throws {
    let totp = try Self.example(digits: 6)
    let now = Self.moment(1_800_000_000)
    let step = TOTP.step(at: now) + distance
    let accepted = try totp.acceptedStep(of: totp.code(atStep: step), at: now, after: nil)
    #expect(accepted == (abs(distance) <= 1 ? step : nil))
  }

  @Test func `no code is accepted twice, and none that is older than the last`() throws {
    let totp = try Self.example(digits: 6)
    let now = Self.moment(1_800_000_000)
    let present = TOTP.step(at: now)
    for (step, last) in [
      (present, present), (present - 1, present), (present, present + 1), (present - 1, present - 1),
    ] {
      #expect(try totp.acceptedStep(of: totp.code(atStep: step), at: now, after: last) == nil)
    }
    #expect(try totp.acceptedStep(of: totp.code(atStep: present), at: now, after: present - 1) == present)
  }

  @Test(arguments: ["", "0", "000000", "94287082", "abcdef", "94287082 "])
  func `what is no code of this moment is refused`(_ typed: String) throws {
    let totp = try Self.example(digits: 6)
    #expect(try totp.acceptedStep(of: Secret(utf8: typed), at: Self.moment(59), after: nil) == nil)
  }

  @Test func `clocks at the ends of time trap nothing`() throws {
    let totp = try Self.example(digits: 6)
    for end in [Int64.min, 0, .max] {
      let code = try Secret(utf8: "000000")
      _ = try totp.acceptedStep(of: code, at: Timestamp(milliseconds: end), after: nil)
    }
  }

  @Test func `each enrolment has a secret of its own`() throws {
    let secrets = try (0..<8).map { _ in try TOTP.randomSecret() }
    #expect(secrets.allSatisfy { $0.byteCount == TOTP.secretByteCount })
    for index in 1..<secrets.count { #expect(secrets[index] != secrets[index - 1]) }
  }
}
