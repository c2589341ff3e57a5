/// How long to wait after the n-th failure in a row: exponential with full jitter, from 1 s to 5 min.
package struct Backoff: Sendable {
  /// The first bound: quick enough for a network that was away for a moment.
  static let shortest = Duration.seconds(1)
  /// The last bound: a provider that is down for hours is asked twelve times an hour.
  static let longest = Duration.seconds(300)

  /// The wait after `failures` failures in a row; a provider's own wish (`Retry-After`) is a floor.
  ///
  /// `jitter` is a random number from 0 to 1.
  package static func delay(afterFailures failures: Int, jitter: Double, floor: Duration?) -> Duration {
    let doublings = min(max(failures - 1, 0), 9)
    let bound = min(shortest * Double(1 << doublings), longest)
    let drawn = bound * min(max(jitter, 0), 1)
    return min(max(drawn, floor ?? .milliseconds(100)), .seconds(3600))
  }
}
