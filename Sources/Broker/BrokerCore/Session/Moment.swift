package import BrokerProtocol

/// One reading of both clocks: decisions take the time as an argument and never read it.
package struct Moment: Sendable, Equatable {
  /// The wall clock: the clock of expiries on the wire.
  package var wall: Timestamp
  /// Time since the machine started, suspended time included: the clock of delays.
  package var uptime: Duration

  package init(wall: Timestamp, uptime: Duration) {
    self.wall = wall
    self.uptime = uptime
  }

  /// The uptime at which the wall clock will show `time`, unless it is set meanwhile.
  func uptime(of time: Timestamp) -> Duration { uptime + (time - wall) }
}

/// A moment on both clocks.
///
/// The wall clock may be set at any time, by a person or from the network; the uptime cannot. So what must not happen
/// too late goes by whichever clock is ahead, and what must not happen too early waits for both.
package struct Deadline: Sendable, Equatable {
  /// The moment on the wall clock.
  package var wall: Timestamp
  /// The same moment in uptime, as far as the wall clock was right when this was made.
  package var uptime: Duration

  package init(wall: Timestamp, uptime: Duration) {
    self.wall = wall
    self.uptime = uptime
  }

  /// Whether either clock shows it.
  package func hasCome(at now: Moment) -> Bool { wall <= now.wall || uptime <= now.uptime }

  /// The time until either clock shows it; not above zero once it has come.
  package func rest(at now: Moment) -> Duration { min(wall - now.wall, uptime - now.uptime) }

  /// The uptime at which either clock will show it, unless the wall clock is set meanwhile.
  func comes(at now: Moment) -> Duration { now.uptime + rest(at: now) }

  /// The moment that is so much later.
  func later(by duration: Duration) -> Deadline { Deadline(wall: wall + duration, uptime: uptime + duration) }
}

extension Moment {
  /// A time on the wall clock as a moment on both, taking this reading for right.
  func deadline(_ time: Timestamp) -> Deadline { Deadline(wall: time, uptime: uptime(of: time)) }
}
