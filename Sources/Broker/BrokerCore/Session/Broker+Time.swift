import BrokerProtocol

/// Clock jumps and suspended machines.
extension Broker {
  /// A timer that goes off later than this was overtaken by a suspend: the loop is never that busy.
  static let lateness = Duration.seconds(5)
  /// After a suspend, or when the clock was set, what is due for many profiles is begun within this time and not in one
  /// instant: half-awake networks and small providers are spared, and callers of a token are not kept waiting.
  static let spread = Duration.seconds(5)

  /// The wall clock was set, or the machine has slept: whatever was planned by it is planned again.
  ///
  /// Delays are counted in uptime and stay as they are. What is due by the new time is begun within ``spread``.
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

  /// Wakes a profile's machine; one that should have been woken long ago, with the others of whom that is true, in turn.
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
