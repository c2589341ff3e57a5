import BrokerProtocol

/// The session that a provider call is about: by the time of the answer there may be another one.
struct SessionMark {
  private let number: UInt64
  private let user: String?

  /// The present session of a profile.
  init(_ slot: ProfileSlot) {
    number = slot.sessions
    user = slot.user?.id
  }

  /// Whether no other session has taken its place but one of the same user.
  func isPresent(on slot: ProfileSlot) -> Bool {
    let now = SessionMark(slot)
    return number == now.number || (user != nil && user == now.user)
  }
}

/// A refresh whose answer is still to come to a session that was signed out meanwhile.
package struct FlightUnderWay: Sendable {
  /// The refresh, in the state `sent`.
  let refresh: RefreshMachine
  /// The requested target; nil for the session's own token.
  let target: TokenTarget?
}
