/// How long a record that could not be saved rests before the next try: from 0.1 s, doubled each time, to 30 s.
///
/// There is no jitter: one disk has one writer.
package enum SaveBackoff {
  /// The first wait: a lock or a burst on the disk is over by then.
  static let shortest = Duration.milliseconds(100)
  /// The last wait: a person who has made room on a full disk need not wait longer.
  static let longest = Duration.seconds(30)

  /// The wait after `failures` failures in a row.
  package static func delay(afterFailures failures: Int) -> Duration {
    min(shortest * Double(1 << min(max(failures - 1, 0), 10)), longest)
  }
}
