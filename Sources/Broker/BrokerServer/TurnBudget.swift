import LinuxSystem

/// How much of one connection is handled before the others get their turn.
///
/// Messages that are answered from the cache are only counted; behind any other the clock is read.
struct TurnBudget {
  /// When the time is over.
  enum Time {
    /// So many nanoseconds after the first message that takes any.
    case span(Int64)
    /// At a time in nanoseconds since boot.
    case deadline(Int64)
  }

  /// How many messages may still be handled.
  private(set) var messages: Int
  private var time: Time

  /// A budget of some messages and some time.
  init(messages: Int, _ time: Time) {
    self.messages = messages
    self.time = time
  }

  /// Counts messages that took no time, no more than are left.
  mutating func count(_ messages: Int) {
    self.messages -= messages
  }

  /// Counts a message that may have taken a time that matters.
  ///
  /// - Returns: whether another one may follow.
  mutating func spend() -> Bool {
    messages -= 1
    guard messages > 0 else { return false }
    let now = BootClock.nanoseconds
    switch time {
    case .deadline(let deadline): return now < deadline
    case .span(let span):
      time = .deadline(now + span)
      return true
    }
  }
}
