import LinuxSystem

/// How long connections that have much to say are served before the others get their turn, in nanoseconds since boot.
struct RoundTime {
  /// Until when, where what they say takes time.
  let deadline: Int64
  /// Until when, where it takes none that matters.
  let quickDeadline: Int64
  /// After how many turns that took no time the clock is read.
  private static let unmeasuredTurns = 8
  private var turns = 0

  /// The time of a round; `quickDeadline` is not before `deadline`.
  init(deadline: Int64, quickDeadline: Int64) {
    self.deadline = deadline
    self.quickDeadline = quickDeadline
  }

  /// Whether the time is over after one more turn.
  mutating func isOver(isQuick: Bool) -> Bool {
    turns += 1
    if isQuick, turns < Self.unmeasuredTurns { return false }
    turns = 0
    return BootClock.nanoseconds >= (isQuick ? quickDeadline : deadline)
  }
}
