import BrokerProtocol

/// Locks the vault where its owner wants that to happen by itself.
extension Broker {
  /// Applies the owner's rules; the time without a use counts from now.
  package func setAutoLock(_ rules: AutoLockRules) {
    guard rules != autoLock.rules else { return }
    lockIfDue()
    autoLock.setRules(rules, at: now.uptime, slept: clock.slept)
    // What is answered without the broker is held to the rules of when it was rendered.
    for slot in slots { forgetAnswer(of: slot) }
    watchIdleness()
  }

  /// Notes a request, before it is served: a vault that is due is locked first, and administration counts as a use of
  /// it.
  package func noteRequest(isAdministrative: Bool) {
    guard autoLock.isOn else { return }
    lockIfDue()
    if isAdministrative { autoLock.used(at: now.uptime) }
  }

  /// Notes that a client has used a session, or has come further with a login.
  func noteVaultUse() {
    guard autoLock.isOn else { return }
    autoLock.used(at: now.uptime)
  }

  /// Takes in that the vault is open from now on.
  func noteOpened() {
    autoLock.opened(at: now.uptime, slept: clock.slept)
    watchIdleness()
  }

  /// Locks a vault that no client has used for too long, and one whose machine has slept.
  func lockIfDue() {
    guard autoLock.isOn, vault.isOpen else { return }
    let hasSlept = autoLock.hasSlept(clock.slept)
    if autoLock.isIdle(at: now.uptime) {
      autoLock.used(at: answers.lastUse)
      // The user is about to type a code, or is in the browser.
      if logins.isAnyPending { autoLock.used(at: now.uptime) }
    }
    if hasSlept || autoLock.isIdle(at: now.uptime) { lockByItself() }
  }

  /// Wakes the broker when the vault may be due.
  private func watchIdleness() {
    idleTimer?.cancel()
    idleTimer = nil
    guard vault.isOpen, let end = autoLock.idleEnd else { return }
    idleTimer = schedule(at: end) { broker in
      broker.lockIfDue()
      broker.watchIdleness()
    }
  }
}
