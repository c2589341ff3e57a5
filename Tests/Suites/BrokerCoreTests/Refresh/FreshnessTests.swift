import BrokerProtocol
import TestSupport
import Testing

@testable import BrokerCore

/// The rule of freshness: which token serves whom, and when the next one is due.
@Suite(.standardTimeLimit) struct FreshnessTests {
  private static let start = Moment(wall: Timestamp(milliseconds: 1_800_000_000_000), uptime: .seconds(1000))

  private static func later(_ seconds: Double, wall: Double? = nil) -> Moment {
    Moment(wall: start.wall + .seconds(wall ?? seconds), uptime: start.uptime + .seconds(seconds))
  }

  private static func deadline(_ seconds: Double) -> Deadline {
    Deadline(wall: start.wall + .seconds(seconds), uptime: start.uptime + .seconds(seconds))
  }

  private func verdict(_ freshness: Freshness, _ wanted: Double, after seconds: Double) -> Freshness.Verdict {
    freshness.verdict(for: .seconds(wanted), at: Self.later(seconds))
  }

  @Test func `a want of up to four fifths of the lifetime is kept to the second`() {
    let freshness = Freshness(end: Self.deadline(300), lifetime: .seconds(300), due: Self.deadline(240))
    for wanted in [0, 1, 30, 100, 239, 240] as [Double] {
      #expect(verdict(freshness, wanted, after: 0) == .good)
      #expect(verdict(freshness, wanted, after: 300 - wanted - 1) == .good)
      guard wanted > 0 else { continue }
      #expect(verdict(freshness, wanted, after: 300 - wanted) == .good)
      #expect(verdict(freshness, wanted, after: 300 - wanted + 1) == .stale)
    }
  }

  @Test func `a larger want is answered until the token is renewed, and that is said`() {
    let freshness = Freshness(end: Self.deadline(300), lifetime: .seconds(300), due: Self.deadline(225))
    for wanted in [241, 300, 301, 3600, 1e9] as [Double] {
      #expect(freshness.caps(Int64(wanted * 1000)))
      #expect(verdict(freshness, wanted, after: 0) == .capped)
      #expect(verdict(freshness, wanted, after: 224) == .capped)
      #expect(verdict(freshness, wanted, after: 225) == .stale)
    }
  }

  @Test func `no clock makes a token good that the other one takes for ended`() {
    let freshness = Freshness(end: Self.deadline(300), lifetime: .seconds(300))
    for wanted in [0, 30, 600] as [Double] {
      #expect(freshness.verdict(for: .seconds(wanted), at: Self.later(300, wall: -7200)) == .stale)
      #expect(freshness.verdict(for: .seconds(wanted), at: Self.later(0, wall: 7200)) == .stale)
    }
  }

  @Test func `a token without an end is good for every want`() {
    let freshness = Freshness(end: nil, lifetime: nil)
    #expect(verdict(freshness, 1e9, after: 1e9) == .good)
  }

  private func renewal(
    access: Double?, refresh: Double?, refreshIssued: Double = 0, skew: Double = 30, jitter: Double = 0.5
  ) -> RenewalTimes {
    let start = Self.start
    var tokens = ScriptedProvider.tokens(1, now: start.wall)
    tokens.accessTokenExpiresAt = access.map { start.wall + .seconds($0) }
    tokens.refreshTokenExpiresAt = refresh.map { start.wall + .seconds($0) }
    var session = LivingSession(
      tokens: tokens, user: nil, authTime: start.wall, issuedAt: start.wall, lastValidatedAt: start.wall)
    session.refreshTokenIssuedAt = start.wall + .seconds(refreshIssued)
    let life = TokenLife(of: session, TokenDating(askedAt: start))
    return RenewalTimes(life, skew: .seconds(skew), jitter: jitter)
  }

  @Test func `whatever is wanted, a fifth of the life passes before a renewal`() {
    for life in [1, 4, 10, 30, 37, 38, 60, 300, 3600] as [Double] {
      for skew in [15, 30, 300, 3600] as [Double] {
        for jitter in [0, 0.5, 1] {
          let due = renewal(access: life, refresh: nil, skew: skew, jitter: jitter).access?.rest(at: Self.start)
          #expect(due.map { $0 >= .seconds(life * 0.199) && $0 <= .seconds(life * 0.851) } == true)
        }
      }
    }
  }

  @Test func `the shorter share of both lives decides`() {
    #expect(renewal(access: 60, refresh: 25).first?.rest(at: Self.start) == .seconds(25 * 0.665))
    #expect(renewal(access: 60, refresh: 3600).first?.rest(at: Self.start) == .seconds(30))
    #expect(renewal(access: nil, refresh: 100).first?.rest(at: Self.start) == .milliseconds(66_500))
    #expect(renewal(access: nil, refresh: nil).first == nil)
  }

  @Test func `an end that the last renewal has not put off is no reason for another one`() {
    // Nine tenths of the refresh token's life were over when these tokens were issued.
    #expect(renewal(access: 900, refresh: 1000, refreshIssued: -9000).refresh == nil)
    // Half of it: the time is still to come.
    #expect(renewal(access: 900, refresh: 1000, refreshIssued: -1000).refresh != nil)
  }
}
