import Glibc
import LinuxSystem

/// How long tests wait for what must happen.
///
/// All tests of the package begin at once, beside whatever else the machine does: a continuation, a thread or a program
/// may have to wait for its processor for minutes. So a test waits for a condition, and the time is only a ceiling.
package enum Patience {
  /// The longest that a test waits; met only where something is broken: several times what the whole suite takes under
  /// a sanitizer.
  package static let ceiling = Duration.seconds(900)

  /// How much longer each try of ``timeouts(from:)`` gets: a machine that is slow for long is soon caught up with.
  private static let growth = 4

  /// When what is waited for from now on is given up, by `BootClock`.
  package static var end: Duration { BootClock.now + ceiling }

  /// Time-outs for a test whose subject is that one passes: the first is short enough to wait for, each further one is
  /// for a machine that was too slow to come to the subject before.
  package static func timeouts(from first: Duration) -> [Duration] {
    Array(sequence(first: first) { $0 < ceiling / growth ? $0 * growth : nil })
  }

  /// Holds this thread up until something is so, looking every millisecond; not for a thread of the global pool, which
  /// others need.
  ///
  /// - Parameter condition: what is waited for.
  /// - Returns: false when it was given up.
  /// - Throws: what `condition` throws.
  package static func wait<Failure>(until condition: () throws(Failure) -> Bool) throws(Failure) -> Bool {
    let end = end
    while try !condition() {
      guard BootClock.now < end else { return false }
      usleep(1000)
    }
    return true
  }
}
