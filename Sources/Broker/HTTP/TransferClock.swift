import LinuxSystem

/// Measures the time of transfers, which stands still while the process does.
///
/// A process that was stopped, frozen or suspended could not read what came meanwhile, so that this time is not the
/// server's delay. A standstill is noticed by a turn of the thread that begins later than planned.
///
/// It is used on its client's thread only.
final class TransferClock {
  /// How much later than planned a turn may begin on a busy machine.
  static let tolerance = Duration.seconds(1)
  /// How long a thread with transfers under way sleeps at most, so that a standstill is measured well.
  static let longestSleep = Duration.seconds(1)

  private let source: () -> Duration
  private var standstills = Duration.zero
  private var woke: Duration
  private var sleep = Duration.zero

  /// A clock that runs, on one that counts everything.
  init(_ source: @escaping () -> Duration = { BootClock.now }) {
    self.source = source
    woke = source()
  }

  /// The time, without all standstills that were noticed.
  var now: Duration { source() - standstills }

  /// Takes in how long the thread is going to sleep.
  func sleeps(for sleep: Duration) { self.sleep = sleep }

  /// Takes in that a turn begins.
  ///
  /// - Returns: when it does.
  func wakes() -> Duration {
    let time = source()
    let delay = time - woke - sleep
    if delay > Self.tolerance { standstills += delay }
    (woke, sleep) = (time, .zero)
    return time - standstills
  }
}
