import BrokerProtocol

/// Clock jumps and suspended machines.
extension Broker {
  /// The lateness from which on a timer was overtaken by a suspend: the loop is never that busy.
  static let lateness = Duration.seconds(5)
  /// The time over which due work of many profiles is spread after a suspend, or when the clock was set: half-awake
  /// networks and small providers are spared, and callers of a token are not kept waiting.
  static let spread = Duration.seconds(5)

  /// Handles a change of the wall clock, or the end of a suspend: everything that was planned by the wall clock is
  /// planned again.
  ///
  /// Delays are counted in uptime and stay as they are. Work that is due by the new time is begun within ``spread``.
  func clockWasSet() {
    lockIfDue()
    if vault.isOpen { wakeLogins() }
    scheduleParked()
    clockSources.forget()
    for view in providerViews.all { view.clock.forget() }
    for slot in profiles.all {
      guard vault.isOpen, let wake = slot.machine.nextWake(at: now), wake <= now.uptime else {
        handle(.clockWasSet, on: slot)
        continue
      }
      handleSoon(.clockWasSet, on: slot)
    }
  }

  /// Wakes a profile's machine; one that is long overdue is woken at some moment within ``spread``.
  func wake(_ name: ProfileName, due: Duration) {
    guard let slot = holder(of: name) else { return }
    guard now.uptime - due > Self.lateness else { return handle(.woken, on: slot) }
    handleSoon(.woken, on: slot)
  }

  /// Lets a profile's machine decide at some instant within ``spread``.
  private func handleSoon(_ event: SessionMachine.Event, on slot: ProfileSlot) {
    let name = slot.name
    slot.timer?.cancel()
    slot.timer = schedule(at: now.uptime + Self.spread * entropy.fraction()) { $0.handle(event, onProfile: name) }
  }
}
