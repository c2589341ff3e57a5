import CLinux

/// The time that the machine has been suspended since it was started: `CLOCK_BOOTTIME` counts it and `CLOCK_MONOTONIC`
/// does not (clock_gettime(2)).
package enum SleepTime {
  /// The longest time between two readings of one clock that count: a process that was stopped in between would look
  /// like a machine that slept.
  private static let longestReading: Int64 = 1_000_000
  /// The most attempts: more fail on no machine that does anything else.
  private static let attempts = 16

  /// The time, to the millisecond; nil where the clocks could not be read together.
  package static var now: Duration? {
    for _ in 0..<attempts {
      let before = BootClock.nanoseconds
      let time = clinux_clock(CLOCK_MONOTONIC)
      guard BootClock.nanoseconds - before <= longestReading else { continue }
      return .nanoseconds(before - (time.seconds &* 1_000_000_000 &+ time.nanoseconds))
    }
    return nil
  }
}
