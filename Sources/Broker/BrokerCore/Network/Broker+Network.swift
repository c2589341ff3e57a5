import BrokerProtocol

/// Availability of providers: failures and recoveries.
extension Broker {
  /// Notes the outcome of a call to the provider of a profile; nil is a success.
  ///
  /// Refreshes, and the calls of ``ask(_:_:then:)`` and ``askDuringUserAction(_:_:noting:then:)``, report here: so the
  /// condition of a provider is known for all profiles that have it. Probes, trials, and revocations that no profile
  /// keeps do not report.
  func noteCall(_ failure: ProviderFailure?, of id: SlotID, isRefresh: Bool = false) {
    if failure?.isLockout == true { counts.lockouts += 1 }
    guard let slot = holder(id) else { return }
    if let failure { noteFailure(failure, of: slot) }
    let view = slot.view
    // A file or a program tells nothing of the network.
    guard !slot.machine.isConfigured else { return view.rest.handle(.recovered, at: now.uptime) }
    noteRest(failure, of: slot, isRefresh: isRefresh)
    for action in view.network.handle(NetworkState.Event(failure)) {
      switch action {
      case .tellDown: for slot in slots where slot.view === view { publish(.networkDown, profile: slot.name) }
      case .tellUp: for slot in slots where slot.view === view { publish(.networkUp, profile: slot.name) }
      case .letOthersTry: networkReturned(except: view)
      }
    }
    if let condition = ProviderCondition(failure) { providerIs(condition, view) }
  }

  /// Notes whether a provider is well enough to be asked without a caller's wish.
  ///
  /// A refusal of another call than a refresh shows nothing about refreshes, unless the provider was not reached.
  private func noteRest(_ failure: ProviderFailure?, of slot: ProfileSlot, isRefresh: Bool) {
    let view = slot.view
    if failure != nil { view.isDoubted = true }
    let condition = ProviderCondition(failure)
    if let condition, condition > .reached { return view.rest.handle(.recovered, at: now.uptime) }
    let isAway = NetworkState.Event(failure) == .notReached
    guard isAway || isRefresh && (condition == .reached || failure?.kind == .timeout) else { return }
    view.rest.handle(
      .failed(slot.id, retryAfter: failure?.retryAfter, jitter: entropy.fraction()), at: now.uptime)
  }

  /// Ends the waits of a provider's profiles and revocations that a call has shown to be over.
  private func providerIs(_ condition: ProviderCondition, _ view: ProviderView) {
    guard vault.isOpen, view.isDoubted else { return }
    if condition == .accepting { view.isDoubted = false }
    for slot in profiles.all where slot.view === view { handle(.providerSeen(condition), on: slot) }
    guard condition > .reached, let binding = slots.first(where: { $0.view === view })?.provider.binding else { return }
    handle(.providerReturned(binding))
  }

  /// Notes that the machine's links, addresses or routes have changed: whatever backs off for want of a network tries
  /// once, at once.
  package func networkMayHaveChanged() { networkReturned(except: nil) }

  private func networkReturned(except known: ProviderView?) {
    guard vault.isOpen else { return }
    for view in providerViews.all where view !== known { view.rest.handle(.recovered, at: now.uptime) }
    for slot in slots where slot.view !== known { handle(.providerSeen(.reached), on: slot) }
    handle(RevocationQueue.Event.networkReturned)
    handle(RequestQueue.Event.networkReturned)
  }

  /// Notes the provider's clock, as a reply shows it.
  func noteClock(_ skew: Duration?, of slot: ProfileSlot) {
    guard slot.view.clock.note(skew) else { return }
    notify(.problem(.clockSkewed(slot.name, slot.view.clock.skew)))
  }
}
