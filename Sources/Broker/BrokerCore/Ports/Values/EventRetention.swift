/// How many events are kept, how many bytes of them, and for how long: whichever ends first.
package enum EventRetention {
  /// The contract's number: days of a busy broker, in a few megabytes.
  package static let count = 10_000
  /// Of so many lasting events (see `EventName.isLasting`), and of so many others, none goes while there are more of the
  /// other kind: a flood of refreshes or failed logins pushes no login or alert out, and the other way round.
  package static let share = 2_000
  /// How many sealed bytes are kept: three times what ten thousand usual events have, and bearable on a small disk where
  /// all are as long as they may be.
  package static let byteCount = 8 << 20
  /// The contract's time: a laptop that was away for a holiday still catches up.
  package static let age = Duration.seconds(30 * 86_400)
}
