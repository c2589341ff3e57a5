import BrokerProtocol

/// How everyone who waits for the store goes on.
extension Broker {
  /// Does what waits for a change that is durable now, or could not be made so.
  func settle(_ settlement: Settlement, _ failure: StoreFailure?) {
    switch settlement {
    case .intent(let slot, let flight): settleIntent(slot, flight, failure)
    case .record(let save): settle(save, failure)
    case .revocation(let id):
      if failure == nil { handle(.kept(id)) }
    case .logout(let id, let profile):
      note(id) { logout in
        logout.unsaved.remove(profile)
        logout.failure = logout.failure ?? failure
      }
    case .leftSession(let id, let profile):
      note(id) { logout in
        logout.unsaved.remove(profile)
        if failure != nil { logout.hasLeftSessions = true }
      }
    case .sessionCheck(let check): close(check, failure)
    case .loginBeforeCheck(let check): examine(check)
    case .account(let caller, let profile): answer(caller, Self.outcome(failure, profile))
    case .deletion(let caller, let profile, let others):
      guard failure == nil else { return answer(caller, Self.outcome(failure, profile)) }
      check(others.compactMap { slot(named: $0) }, .accountDeleted, for: caller, of: profile)
    case .login(let settlement): settle(settlement, failure)
    }
  }

  private func settleIntent(_ id: SlotID, _ flight: UInt64, _ failure: StoreFailure?) {
    guard let slot = holder(id) else { return }
    if failure == nil {
      handle(.intentSaved(flight: flight), on: slot)
    } else {
      handle(.intentFailed(flight: flight, jitter: entropy.fraction()), on: slot)
    }
  }

  /// What is answered once the provider has done its part, and the vault its own or not.
  static func outcome(_ failure: StoreFailure?, _ profile: ProfileName) -> Result<Empty, BrokerError> {
    guard failure != nil else { return .success(Empty()) }
    let message = "The provider made the change, but the vault could not be written; the write is retried."
    return .failure(BrokerError(.storeFailed, message, profile: profile))
  }
}
