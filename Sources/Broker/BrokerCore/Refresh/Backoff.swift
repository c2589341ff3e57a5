/// How long to wait after the n-th failure in a row: exponential with full jitter, from 1 s to 5 min.
package struct Backoff: Sendable {
  /// The first bound: quick enough for a network that was away for a moment.
  static let shortest = Duration.seconds(1)
  /// The last bound: a provider that is down for hours is asked twelve times an hour.
  static let longest = Duration.seconds(300)

  /// A caller's request is tried once in so long, or in up to twice that, however long the schedule waits: a person has
  /// perhaps just put right what was wrong.
  static let callersPause = Duration.seconds(5)
  /// A provider's own wish (`Retry-After`) binds a caller's request for so long at most.
  static let longestCallersPause = Duration.seconds(60)
  /// The same wish binds what no caller has asked for as long as this.
  static let longestWish = Duration.seconds(3600)

  /// The wait after `failures` failures in a row; a provider's own wish (`Retry-After`) is a floor.
  ///
  /// `jitter` is a random number from 0 to 1.
  package static func delay(afterFailures failures: Int, jitter: Double, floor: Duration?) -> Duration {
    let doublings = min(max(failures - 1, 0), 9)
    let bound = min(shortest * Double(1 << doublings), longest)
    let drawn = bound * min(max(jitter, 0), 1)
    return min(max(drawn, floor ?? .milliseconds(100)), longestWish)
  }

  /// How long callers wait where the schedule waits for `delay`; `jitter` and `floor` as before.
  static func pauseOfCallers(_ delay: Duration, jitter: Double, floor: Duration?) -> Duration {
    let pause = callersPause * (1 + min(max(jitter, 0), 1))
    return min(delay, max(pause, min(floor ?? .zero, longestCallersPause)))
  }
}
