import Glibc
import LinuxSystem

/// How long tests wait for what must happen.
///
/// Many tests of the package run at once, beside whatever else the machine does: a continuation, a thread or a program
/// may have to wait for its processor for minutes. So a test waits for a condition, and the time is only a ceiling.
package enum Patience {
  /// The longest that a test waits; met only where something is broken.
  ///
  /// It is about what the whole suite takes where others share two processors, and a third of what `.ci/run` gives it.
  /// Under a sanitizer everything takes longer.
  package static let ceiling = Duration.seconds(isInstrumented ? 1200 : 300)

  /// How many minutes a test may take in all.
  ///
  /// It is twice the ceiling, so that a wait that is given up is told as such. The longest test, the simulation, takes
  /// half of it beside all others on a busy machine.
  package static let limit = isInstrumented ? 40 : 10

  /// The variables with the options of sanitizers.
  package static let sanitizerOptions = ["ASAN_OPTIONS", "LSAN_OPTIONS", "TSAN_OPTIONS"]

  /// Whether a sanitizer's options are set, as `.ci/sanitize` does.
  package static let isInstrumented =
    Environment.current["ASAN_OPTIONS"] != nil || Environment.current["TSAN_OPTIONS"] != nil

  /// A number of repetitions: all of them, or a tenth under a sanitizer, which looks at the path that is taken and not at
  /// how often it is.
  package static func repetitions(_ count: Int) -> Int { isInstrumented ? max(1, count / 10) : count }

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
