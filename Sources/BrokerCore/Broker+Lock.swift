package import BrokerProtocol

/// How the vault is locked.
extension Broker {
  /// Refuses what needs an open vault.
  ///
  /// - Throws: `vaultLocked`.
  func requireUnlocked() throws(BrokerError) {
    guard gate == .unlocked else { throw BrokerError(.vaultLocked) }
  }

  /// A reply that tells nothing but that the vault is locked, if it is by then.
  func unlessLocked<Value>(_ reply: @escaping Reply<Value>) -> Reply<Value> {
    { [weak self] result in
      let isOpen = self?.assumeIsolated { $0.gate == .unlocked } ?? false
      reply(isOpen ? result : .failure(BrokerError(.vaultLocked)))
    }
  }

  /// Forgets the vault's keys and every token.
  ///
  /// For clients both are gone at once. What was under way is finished and saved before the keys go; the answer follows.
  /// Where something cannot be saved, the answer says so, and the keys go as soon as it is.
  package func lock(_ reply: @escaping Reply<Empty>) {
    overtakeUnlocks()
    switch gate {
    case .locked: reply(.success(Empty()))
    case .locking, .unlocking: lockReplies.append(reply)
    case .unlocked:
      lockReplies.append(reply)
      closeGate()
    }
    finishLocking()
  }

  /// Whoever wanted the vault opened before it is locked once more does not open it behind the lock's back.
  private func overtakeUnlocks() {
    let overtaken = keyAttempts.remove { attempt in
      if case .unlock = attempt { true } else { false }
    }
    for attempt in overtaken {
      attempt.reply(.failure(BrokerError(.vaultLocked, "The vault was locked again meanwhile.")))
    }
  }

  /// Lets nothing out any more, and begins nothing new.
  func closeGate() {
    gate = .locking
    handle(.closed)
    publish(.vaultLocked, profile: nil)
    hub.forgetKept()
    letGoOfLogins(.vaultLocked)
    for slot in slots {
      slot.timer?.cancel()
      slot.timer = nil
      slot.rendered = nil
      // A login that is under way is not taken in: nobody may learn of it.
      slot.logouts += 1
    }
    answers.reset(index, count: slots.count, unnamed: Self.unnamed(slots))
    for (waiter, entry) in waiters.sorted(by: { $0.key.number < $1.key.number }) {
      answer(waiter, .failure(BrokerError(.vaultLocked, profile: entry.profile)))
      handle(.waiterLeft(waiter), onProfile: entry.profile)
    }
  }

  /// Lets the keys go once nothing needs them any more.
  func finishLocking() {
    guard gate == .locking, work == 0, commits.isIdle, !isTryingKey else { return }
    guard retries.isEmpty else { return reportUnsaved() }
    for slot in slots { forget(slot) }
    leaving = []
    pendingLogins = PendingLogins()
    loginsToClose = []
    handle(.dropped)
    revocationAnswers = [:]
    hub.forgetKept()
    let keeper = self.keeper
    inBackground {
      await keeper.lock()
      let status = await keeper.status
      return { $0.locked(status) }
    }
  }

  private func forget(_ slot: ProfileSlot) {
    slot.machine = SessionMachine(
      profile: slot.name, binding: slot.machine.binding, rules: slot.machine.rules, tokenID: slot.machine.tokenID)
    slot.rendered = nil
    slot.user = nil
    slot.userFetchedAt = nil
  }

  private func locked(_ status: StoreStatus) {
    gate = .locked
    isSuspicionTold = false
    storeStatus = status
    let replies = lockReplies
    lockReplies = []
    for reply in replies { reply(.success(Empty())) }
    tryNextKey()
  }

  /// Says that the newest tokens are nowhere but in memory.
  private func reportUnsaved() {
    let error = BrokerError(
      .storeFailed,
      "Clients are locked out, but the newest tokens could not be saved: they and the key are kept in memory until the"
        + " vault can be written.")
    let replies = lockReplies + keyAttempts.remove { _ in true }.map(\.reply)
    lockReplies = []
    for reply in replies { reply(.failure(error)) }
  }

  /// Where the vault stands for clients.
  package var vaultStatus: GetStatus.VaultStatus {
    GetStatus.VaultStatus(
      locked: gate != .unlocked, keySource: storeStatus.keySource.rawValue, schemaVersion: storeStatus.schemaVersion,
      isInitialized: storeStatus.isInitialized, noticesRollback: storeStatus.noticesRollback)
  }
}
