import BrokerProtocol

/// What is made of a network that comes back.
extension SessionMachine {
  /// Tries once, at once, where the last refresh did not reach the provider; any other wait goes on.
  ///
  /// A refresh whose outcome is unknown waits for the end of its access token and not for a network.
  mutating func tryAgain(_ now: Moment) -> [Action] {
    guard case .backingOff(let until, let error) = activity, now.uptime < until, !isOutcomeUnknown,
      error.kind == .networkUnavailable || error.kind == .timeout
    else { return [] }
    activity = .backingOff(until: now.uptime, error)
    return wake(now)
  }
}
