import BrokerProtocol

/// What is made of a network that goes and comes back.
extension Broker {
  /// Takes in what a call to the provider of a profile came to; nil is a success.
  ///
  /// Refreshes, and what ``ask(_:_:then:)`` and ``askDuringUserAction(_:_:noting:then:)`` call, report here: that is how
  /// it is known whether there is a network. Probes, trials, and revocations that no profile keeps do not report.
  func noteCall(_ failure: ProviderFailure?, of id: SlotID) {
    if failure?.isLockout == true { counts.lockouts += 1 }
    guard let slot = holder(id) else { return }
    if let failure { noteFailure(failure, of: slot) }
    for action in slot.network.handle(NetworkState.Event(failure)) {
      switch action {
      case .tellDown: publish(.networkDown, profile: slot.name)
      case .tellUp: publish(.networkUp, profile: slot.name)
      case .letOthersTry: networkReturned(except: slot)
      }
    }
  }

  /// The machine's links, addresses or routes have changed: whatever backs off for want of a network tries once, at once.
  package func networkMayHaveChanged() { networkReturned(except: nil) }

  private func networkReturned(except known: ProfileSlot?) {
    guard vault.isOpen else { return }
    for slot in slots where slot !== known { handle(.networkReturned, on: slot) }
    handle(.networkReturned)
  }

  /// Takes in what a provider's reply told of its clock.
  func noteClock(_ skew: Duration?, of slot: ProfileSlot) {
    guard slot.providerClock.note(skew) else { return }
    notify(.trouble(.clockSkewed(slot.name, slot.providerClock.skew)))
  }
}
