import BrokerProtocol
import ProviderKit
import TestSupport
import Testing

/// How far a clock is ahead, from one reply.
@Suite(.standardTimeLimit) struct ClockSkewTests {
  private static let noon = Timestamp(milliseconds: 1_800_000_000_000)

  @Test(arguments: [
    // The server's second, milliseconds after noon when the request was sent, milliseconds to the reply, the difference.
    (0, 500, 0, 0), (0, 0, 999, 0), (0, 0, 0, 1), (0, 1000, 0, -1), (3600, 450, 100, 3600), (-3600, 450, 100, -3600),
    // However slow the reply was, a clock that agrees with the middle is right.
    (5, 0, 11_000, 0), (31, 0, 1000, 31),
  ])
  func `the server's clock is compared with the middle of request and reply`(
    _ server: Int64, _ sent: Int64, _ roundTrip: Int64, _ expected: Int
  ) {
    let skew = ClockSkew.between(
      ClockSkew.serverTime(1_800_000_000 + server), sentAt: Self.noon + .milliseconds(sent),
      roundTrip: .milliseconds(roundTrip))
    #expect(skew == .seconds(expected))
  }

  @Test func `no moment of any clock is too far away`() {
    let skew = ClockSkew.between(
      ClockSkew.serverTime(.max), sentAt: Timestamp(milliseconds: .min), roundTrip: .zero)
    #expect(skew > .seconds(300_000_000_000))
  }
}
