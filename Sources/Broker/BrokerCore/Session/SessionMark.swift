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
