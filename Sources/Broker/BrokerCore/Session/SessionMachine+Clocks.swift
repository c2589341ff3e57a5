import BrokerProtocol

/// Re-dating of a session whose clock was set.
extension SessionMachine {
  /// Adjusts to the present clocks: the tokens live on as long as before, at other times of the wall clock.
  mutating func followClocks(_ now: Moment, isNew: Bool = false) {
    guard var life, life.follow(verdict: clockVerdict, isNew: isNew, policy, at: now) else { return }
    phase = .living(life)
    answerVersion += 1
  }

  /// Takes in how far the clocks of others are ahead.
  mutating func judgeClock(_ verdict: Duration?, _ now: Moment) -> [Action] {
    clockVerdict = verdict
    followClocks(now, isNew: true)
    return wake(now)
  }

  /// A time that is kept with the session's tokens, by the present wall clock.
  func shown(_ time: Timestamp?) -> Timestamp? {
    time.map { $0 + (dating?.shift ?? .zero) }
  }

  /// A time by the present wall clock, as it is kept with the session's tokens.
  func kept(_ time: Timestamp) -> Timestamp { time + (.zero - (dating?.shift ?? .zero)) }

  /// Reports that no token can be had of the session any more; nothing is deleted by it.
  mutating func tellEnd(_ now: Moment) -> [Action] {
    life?.toldEnd = true
    answerVersion += 1
    let waiting = demands
    demands = []
    return refuse(waiting) + [
      .publish(
        .sessionExpired(
          SessionExpiredEvent(
            reason: .noRefreshToken, message: SessionExpiredEvent.Reason.noRefreshToken.explanation)))
    ]
  }

  /// Reports that a session reported as without a token has one again: a clock was wrong, and was set.
  mutating func tellReturn(_ now: Moment) -> [Action] {
    guard let life, life.toldEnd, life.tokens.isAlive(at: now) else { return [] }
    self.life?.toldEnd = false
    return [.publish(refreshed(life.session))]
  }
}
