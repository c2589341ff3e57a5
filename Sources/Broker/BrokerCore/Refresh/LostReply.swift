import BrokerProtocol

/// A refresh whose reply was lost: its token may have been spent, and its successor be nowhere.
package struct LostReply: Sendable, Equatable {
  /// When the token was sent.
  package var sentAt: Moment
  /// Whether it was sent once more inside the provider's grace, or that is not to be.
  package var isReplayed: Bool

  /// What the intent of a replay says: no grace is so long, so a broker that is started after a crash does not replay the
  /// token a second time.
  static let replayMark = Timestamp(milliseconds: 0)

  /// A reply that was lost in this process.
  init(sentAt: Moment) {
    self.sentAt = sentAt
    isReplayed = false
  }

  /// What an open intent tells after a restart; with a clock that was set back meanwhile nothing can be said of a grace.
  init(startedAt: Timestamp, now: Moment) {
    sentAt = Moment(wall: startedAt, uptime: now.uptime(of: startedAt))
    isReplayed = startedAt > now.wall
  }

  /// Whether the token may be sent once more at `now`, as its provider takes it for so long.
  func mayBeReplayed(within grace: Duration, at now: Moment) -> Bool {
    guard !isReplayed, grace > .zero else { return false }
    return !sentAt.deadline(sentAt.wall + grace).hasCome(at: now)
  }
}
