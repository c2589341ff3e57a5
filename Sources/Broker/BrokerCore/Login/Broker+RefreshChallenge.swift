import BrokerProtocol

/// Challenges that a provider answers a refresh with.
extension Broker {
  /// Ends the session, and lets the challenge wait for its code, which brings another session of the same user.
  ///
  /// The challenge is there before callers are told that the session has ended. A flight for another target, one whose
  /// session has gone, and one beside another login bring none.
  func end(_ flight: UInt64, with challenge: ProviderChallenge, on slot: ProfileSlot) {
    let login = pendingLogin(for: challenge, after: flight, on: slot)
    if let login { logins.insert(login) }
    handle(.refreshFailed(flight: flight, .challenged(challenge)), on: slot)
    guard let login, let described = login.step.challenge else { return }
    noteSentCode(challenge.method, for: nil, to: nil, on: slot)
    keep(login, on: slot, telling: [.otpChallenge(described)], then: nil)
    handle(.resumed, onLogin: login.id)
  }

  private func pendingLogin(
    for challenge: ProviderChallenge, after flight: UInt64, on slot: ProfileSlot
  ) -> PendingLogin? {
    guard case .sent(flight, _) = slot.machine.refreshState, let life = slot.machine.life, life.flightTarget == nil,
      !slot.machine.isSigningIn, !logins.mayBringSession(to: slot)
    else { return nil }
    let described = challenge.described(id: entropy.handle(), profile: slot.name)
    let user = ExpectedUser(id: slot.user?.id, email: slot.user?.email)
    return PendingLogin(step: .code(described), flow: challenge.flow, expectedUser: user)
  }
}
