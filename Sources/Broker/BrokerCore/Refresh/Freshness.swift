import BrokerProtocol

/// The one rule of freshness: whether a token serves a caller, and when it is renewed.
///
/// All that hand out a token ask here: the session for its own and for those of other targets, the ID token, and the
/// answers that are rendered already. Everything is in whole milliseconds, since the last of them are asked for once a
/// request.
package struct Freshness: Sendable, Equatable {
  /// The worth of a token to a caller.
  package enum Verdict: Sendable, Equatable {
    /// It lives for as long as is wanted.
    case good
    /// It serves, although no token could be relied on to live for as long as the caller wants.
    case capped
    /// It has expired, or another one is to be had that lives longer.
    case stale
  }

  /// The shares of its life between which an access token is renewed: late enough to spare the provider, early enough
  /// that one failure is not yet felt; apart enough that what began together does not stay together.
  package static let accessShares = 0.75...0.85
  /// The same for a refresh token, which is renewed with its successor: two thirds leave time for some failures.
  package static let refreshShares = 0.63...0.70
  /// The longest remaining life that a caller can rely on, as a share of the whole life.
  package static let wantShare = 0.8

  /// When the token expires by the wall clock, in milliseconds since 1970; the end of time where it does not.
  private let wallEnd: Int64
  /// The same in uptime: see ``Deadline``.
  private let uptimeEnd: Int64
  /// When it is renewed, in uptime.
  private let due: Int64
  /// The longest want that can be kept.
  private let longestWant: Int64

  /// The freshness of a token.
  ///
  /// - Parameters:
  ///   - end: when it expires; nil where it does not.
  ///   - lifetime: how long it lives in all; nil where that is not known.
  ///   - due: when it is renewed; nil: after four fifths of its life.
  init(end: Deadline?, lifetime: Duration?, due: Deadline? = nil) {
    wallEnd = end?.wall.milliseconds ?? .max
    uptimeEnd = end?.uptime.milliseconds ?? .max
    longestWant = lifetime.map { ($0 * Self.wantShare).milliseconds } ?? .max
    let standardDue = end.flatMap { end in lifetime.map { end.uptime - $0 * (1 - Self.wantShare) } }
    self.due = (due?.uptime ?? standardDue)?.milliseconds ?? .max
  }

  /// Whether more is wanted than can be kept, all in milliseconds.
  package func caps(_ wanted: Int64) -> Bool { wanted > longestWant }

  /// Judges the token for a caller that wants it to live for some time; all arguments are in milliseconds.
  package func verdict(for wanted: Int64, wall: Int64, uptime: Int64) -> Verdict {
    let rest = min(wallEnd &- wall, uptimeEnd &- uptime)
    guard rest > 0 else { return .stale }
    if caps(wanted) { return uptime < due ? .capped : .stale }
    return rest >= wanted ? .good : .stale
  }

  /// The same at a moment.
  func verdict(for wanted: Duration, at now: Moment) -> Verdict {
    verdict(for: wanted.milliseconds, wall: now.wall.milliseconds, uptime: now.uptime.milliseconds)
  }
}

/// When the tokens of a session are renewed: after a share of each life, as one random number says.
///
/// What depends on the lives alone is here, so that it is the same for the background and for callers.
struct RenewalTimes: Sendable, Equatable {
  /// When the access token has lived for its share; nil where it has no end.
  let access: Deadline?
  /// When a share of the refresh token's life is over; nil where its expiry is unknown, or a refresh does not put it
  /// off.
  let refresh: Deadline?

  /// The renewal of tokens with these lives; `jitter` is a random number from 0 to 1.
  ///
  /// A profile that wants its tokens to live for some time longer has them renewed when they no longer would.
  init(_ life: TokenLife, skew: Duration, jitter: Double) {
    guard life.isRefreshable else {
      access = nil
      refresh = nil
      return
    }
    let share = min(max(jitter, 0), 1)
    access = life.lifetime.map { lifetime in
      let drawn = lifetime * Self.draw(Freshness.accessShares, share)
      return life.issued.later(by: skew > lifetime * Freshness.wantShare ? drawn : min(drawn, lifetime - skew))
    }
    refresh = life.refreshLifetime.flatMap { lifetime in
      // A refresh after this moment, which has not put the end off, shows that none does.
      let least = life.refreshIssued.later(by: lifetime * Freshness.refreshShares.lowerBound)
      guard life.issued.uptime < least.uptime else { return nil }
      return life.refreshIssued.later(by: lifetime * Self.draw(Freshness.refreshShares, share))
    }
  }

  /// When the tokens are renewed; nil where nothing says when.
  var first: Deadline? {
    guard let access, let refresh else { return access ?? refresh }
    return access.uptime <= refresh.uptime ? access : refresh
  }

  private static func draw(_ range: ClosedRange<Double>, _ share: Double) -> Double {
    range.lowerBound + (range.upperBound - range.lowerBound) * share
  }
}
