package import BrokerProtocol

/// One reading of both clocks: decisions take the time as an argument and never read it.
package struct Moment: Sendable, Equatable {
  /// The wall clock: what an expiry on the wire means.
  package var wall: Timestamp
  /// Time since the machine started, suspended time included: what delays are counted in.
  package var uptime: Duration

  package init(wall: Timestamp, uptime: Duration) {
    self.wall = wall
    self.uptime = uptime
  }

  /// The uptime at which the wall clock will show `time`, unless it is set meanwhile.
  func uptime(of time: Timestamp) -> Duration { uptime + (time - wall) }
}
