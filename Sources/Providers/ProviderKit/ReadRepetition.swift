/// When a request that only reads is sent again after a failure that may pass.
package enum ReadRepetition {
  /// How often it is sent in all (RFC 9110, section 9.2.2).
  package static let attempts = 3
  /// The longest pause before the first repetition; the next one is twice as long.
  static let firstPause = Duration.milliseconds(500)

  /// How long to wait after so many failures: exponential with equal jitter, so that neither a server that starts is asked
  /// at once nor all ask it together.
  ///
  /// - Parameters:
  ///   - failures: at least one.
  ///   - jitter: a random number from 0 to 1.
  /// - Returns: the pause.
  package static func pause(afterFailures failures: Int, jitter: Double) -> Duration {
    let longest = firstPause * Double(1 << min(max(failures - 1, 0), attempts))
    return longest / 2 + longest / 2 * min(max(jitter, 0), 1)
  }
}
