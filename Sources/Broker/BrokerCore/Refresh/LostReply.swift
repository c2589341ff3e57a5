import BrokerProtocol

/// A refresh whose reply was lost: its token may have been spent, and its successor be nowhere.
package struct LostReply: Sendable, Equatable {
  /// When the token was sent.
  package var sentAt: Moment
  /// Whether it was sent once more inside the provider's grace, or that is not to be.
  package var isReplayed: Bool
  /// Whether it was sent once more by another broker, or before this one began.
  var isRepeatedElsewhere: Bool

  /// The send time in the intent of a replay: outside any grace period, so a broker that is started after a crash does
  /// not replay the token a second time.
  static let replayMark = Timestamp(milliseconds: 0)

  /// A reply that was lost in this process.
  init(sentAt: Moment) {
    self.sentAt = sentAt
    isReplayed = false
    isRepeatedElsewhere = false
  }

  /// The lost reply of an intent found open after a restart; a clock that was set back since rules out the grace
  /// period.
  init(startedAt: Timestamp, now: Moment) {
    sentAt = Moment(wall: startedAt, uptime: now.uptime(of: startedAt))
    isReplayed = startedAt > now.wall
    isRepeatedElsewhere = startedAt == Self.replayMark
  }

  /// Whether the token may be sent once more at `now`, as its provider takes it for so long.
  func mayBeReplayed(within grace: Duration, at now: Moment) -> Bool {
    guard !isReplayed, !isRepeatedElsewhere, grace > .zero else { return false }
    return !sentAt.deadline(sentAt.wall + grace).hasCome(at: now)
  }
}
