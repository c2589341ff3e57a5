/// A token bucket: so many calls at once, and one more after each interval.
///
/// A value of one number, the uptime at which it is full again (the generic cell rate algorithm, ITU-T I.371): a bucket that
/// is full needs no place in a table.
package struct TokenBucket: Sendable, Equatable {
  /// The capacity of a bucket, and its refill interval.
  package struct Rate: Sendable, Equatable {
    /// How many calls may be made at once.
    package var burst: Int
    /// How long one token takes to come back.
    package var interval: Duration

    /// A rate; at least one call, and some time for each.
    package init(burst: Int, interval: Duration) {
      self.burst = max(burst, 1)
      self.interval = max(interval, .milliseconds(1))
    }

    /// How long an empty bucket takes to be full.
    var refill: Duration { interval * burst }
  }

  /// When the bucket is full again, in uptime.
  package private(set) var fullAt: Duration

  /// A full bucket.
  package init() { fullAt = .zero }

  /// Whether every token is there.
  package func isFull(at uptime: Duration) -> Bool { fullAt <= uptime }

  /// How long to wait for a token; nil where there is one.
  package func wait(_ rate: Rate, at uptime: Duration) -> Duration? {
    let wait = max(fullAt, uptime) + rate.interval - rate.refill - uptime
    return wait > .zero ? wait : nil
  }

  /// Takes a token; where there is none, the bucket owes one, and the next wait is longer.
  package mutating func spend(_ rate: Rate, at uptime: Duration) {
    fullAt = max(fullAt, uptime) + rate.interval
  }
}
