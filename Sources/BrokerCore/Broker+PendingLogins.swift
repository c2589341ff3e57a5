import BrokerProtocol

/// How logins that wait for a code outlive the process, and how they end.
extension Broker {
  /// Makes a login durable that waits for its code, then goes on; where it cannot be, it goes on from memory.
  func keep(
    _ id: String, on slot: ProfileSlot, telling events: [EventPayload] = [],
    _ done: @escaping @Sendable () -> Void = {}
  ) {
    guard let login = pendingLogins.login(of: id) else { return done() }
    loginsToClose.remove(slot.name)
    let record = PendingLoginRecord(binding: slot.provider.binding, login: login)
    change(StoreChange(.note, [.openLogin(record)], telling: events, of: slot.name)) { _, _ in done() }
  }

  /// Forgets the login of a profile that waits for its code; the record goes with the next one of the profile, or by
  /// ``closeLogins()``.
  func forgetLogin(of profile: ProfileName) {
    if pendingLogins.forget(profile: profile) { loginsToClose.insert(profile) }
  }

  /// Removes the records of logins that are over.
  func closeLogins() {
    let names = loginsToClose.sorted()
    loginsToClose = []
    guard !names.isEmpty else { return }
    change(StoreChange(.note, names.map { .closeLogin($0) }, of: nil))
  }

  /// Forgets logins that nobody answered in time, so that an unanswered one does not keep the broker alive.
  func schedulePendingLogins() {
    pendingLoginTimer?.cancel()
    pendingLoginTimer = nil
    guard gate == .unlocked else { return }
    loginsToClose.formUnion(pendingLogins.forgetEnded(at: now.wall))
    closeLogins()
    pendingLoginTimer = pendingLogins.nextEnd.map { end in
      clock.schedule(at: now.uptime(of: end)) { [weak self] in
        self?.assumeIsolated { $0.schedulePendingLogins() }
      }
    }
  }
}
