import BrokerProtocol

/// Which session a provider was asked something for: by the time of its answer there may be another one.
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
  /// Where it stands: sent.
  let refresh: RefreshMachine
  /// What a token is asked for; nil for the session's own.
  let target: TokenTarget?
}
