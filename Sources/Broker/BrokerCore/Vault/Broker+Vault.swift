package import BrokerProtocol

/// Carrying out the actions of the vault's gate.
extension Broker {
  /// Opens the vault, and restores its records.
  ///
  /// Attempts are taken one at a time, in the order of ``KeyAttemptQueue``. The answer to a wrong passphrase is kept
  /// back as ``PassphraseDelay`` says, and so is the next attempt.
  package func unlock(_ params: Unlock.Params, _ caller: Caller<Empty>) {
    want(KeyAttempt(caller: caller.id, principal: caller.principal, wish: .unlock(params.passphrase)))
  }

  /// Re-encrypts the vault; sessions go on meanwhile.
  package func rekey(_ params: Rekey.Params, _ caller: Caller<Empty>) {
    want(KeyAttempt(caller: caller.id, principal: caller.principal, wish: .rekey(params)))
  }

  private func want(_ attempt: KeyAttempt) { tell(.wanted(attempt, limit: ledger.limits[.keyAttempts])) }

  /// Locks the vault: wipes its keys and every token.
  ///
  /// For clients both are gone at once. Work under way is finished and saved before the keys are wiped; the answer
  /// follows. Where something cannot be saved, the answer says so, and the keys are wiped as soon as it is.
  package func lock(_ caller: Caller<Empty>) { tell(.lockWanted(caller.id)) }

  /// Does the same where no caller waits for it.
  func lockByItself() { tell(.lockDue) }

  /// Forgets the key attempts of a closed connection.
  func forgetKeyAttempts(of client: ClientID) { tell(.clientLeft(client)) }

  /// Passes on that the work before the lock is done, so that the keys can be wiped.
  func finishLocking() {
    guard background.calls == 0, eventLog.isIdle, sharedCommits.isIdle else { return }
    perform(vault.handle(.idle(isSaved: journal.isSaved), at: now))
  }

  private func tell(_ event: VaultGate.Event) {
    perform(vault.handle(event, at: now))
    finishLocking()
  }

  private func perform(_ actions: [VaultGate.Action]) {
    for action in actions {
      switch action {
      case .answer(let caller, let error): acknowledge(caller, error)
      case .refuseForNumber(let caller):
        ledger.note(.keyAttempts)
        refuse(caller, ledger.error(of: .keyAttempts))
      case .forget(let caller): detach(caller)
      case .attempt(let attempt): make(attempt)
      case .keep(let failures): keep(failures) {}
      case .delay(let failures, let error, let time):
        keep(failures) { [weak self] in
          self?.assumeIsolated { $0.tell(.finished(error), at: time) }
        }
      case .wakeFirstAttempt(let time): tell(.firstAttemptDue, at: time)
      case .close: closeGate()
      case .drop: dropKeys()
      }
    }
  }

  private func tell(_ event: VaultGate.Event, at uptime: Duration) {
    _ = schedule(at: uptime) { $0.tell(event) }
  }

  private func make(_ attempt: KeyAttempt) {
    let (store, hasSequences) = (self.store, eventLog.isOpen)
    inBackground {
      do throws(KeyFailure) {
        switch attempt.wish {
        case .rekey(let params):
          try await store.rekey(params)
          let status = await store.status
          return { $0.accept(nil, status) }
        case .unlock(let passphrase):
          try await store.unlock(passphrase)
          let contents = try await Self.load(store)
          let reserved = hasSequences ? nil : await Self.reserveSequences(store, after: contents.lastSequence)
          let status = await store.status
          return { broker in
            broker.openEvents(contents, reserved: reserved)
            broker.accept(contents, status)
          }
        }
      } catch {
        return { $0.refuse(attempt, error) }
      }
    }
  }

  /// Reads the store; one that cannot be read is locked again.
  private static func load(_ store: any SessionStore & StoreKeeper) async throws(KeyFailure) -> StoreContents {
    do throws(StoreFailure) {
      return try await store.load()
    } catch {
      await store.lock()
      throw .store(error)
    }
  }

  private func accept(_ contents: StoreContents?, _ status: StoreStatus) {
    perform(vault.handle(.accepted(status), at: now))
    if let contents {
      noteOpened()
      openAudit()
      publish(.vaultUnlocked, profile: nil)
      restore(contents, to: slots)
      readSharedRecords()
      openQueues(contents)
    }
    tell(.finished(nil))
  }

  private func refuse(_ attempt: KeyAttempt, _ failure: KeyFailure) {
    if case .store(.tampered(let profile)) = failure { raiseTampering(of: profile) }
    let missing = attempt.missingPassphrase(vault.status.keySource)
    let error = BrokerError(failure, missing: missing, newPassphrase: attempt.newPassphrase)
    tell(.refused(error, isWrong: failure == .wrongPassphrase))
  }

  /// Keeps the wrong passphrases so far for the next start, then goes on.
  private func keep(_ failures: PassphraseFailures, _ next: @escaping @Sendable () -> Void) {
    let store = self.store
    inBackground {
      await store.keep(failures)
      return { _ in next() }
    }
  }

  /// Lets nothing out any more, and begins nothing new.
  private func closeGate() {
    closeQueues()
    publish(.vaultLocked, profile: nil)
    writeAudit(withRepetitions: true) { _ in }
    eventLog.hub.forgetKept()
    detachLogins(.vaultLocked)
    for slot in slots {
      slot.timer?.cancel()
      slot.timer = nil
      slot.rendered.forget()
      // A login that is under way is not taken in: no client may learn of it. One that spends a refresh token which a
      // client has given cannot be done again: it is saved, as a refresh is.
      slot.locks += 1
    }
    resetAnswers()
    endConsents()
    for (caller, profile) in callers.waitingForTokens {
      refuse(caller, BrokerError(.vaultLocked, profile: profile))
      handle(.waiterLeft(caller), onProfile: profile)
    }
    notify(.locked)
  }

  private func dropKeys() {
    closeAudit()
    for slot in slots { forget(slot) }
    dropSharedKeys()
    profiles.forgetLeaving()
    logins.forgetPending()
    enrolments.endAll()
    parked.unload()
    dropQueues()
    eventLog.hub.forgetKept()
    let store = self.store
    inBackground {
      await store.lock()
      let status = await store.status
      return { broker in
        broker.eventLog.forgetSuspicion()
        broker.tell(.dropped(status))
      }
    }
  }

  private func forget(_ slot: ProfileSlot) {
    slot.machine = SessionMachine(
      profile: slot.name, binding: slot.machine.binding, rules: slot.machine.rules, boot: slot.machine.boot,
      tokenID: slot.machine.tokenID)
    slot.machine.serve(slot.provider, isShared: slot.records != nil)
    slot.isRead = slot.records == nil
    slot.takenUp = nil
    slot.subjects = nil
    slot.rendered.forget()
    slot.account.describedAt = nil
  }
}

/// Requests that need an open vault, and its examination.
extension Broker {
  /// Refuses a request that needs an open vault.
  ///
  /// - Throws: `vaultLocked`.
  func requireUnlocked() throws(BrokerError) {
    guard vault.isOpen else { throw BrokerError(.vaultLocked) }
  }

  /// The status of the vault for clients, with the path of its file for those that may know it.
  package func vaultStatus(in path: String?) -> GetStatus.VaultStatus {
    let status = vault.status
    return GetStatus.VaultStatus(
      locked: !vault.isOpen, keySource: status.keySource.rawValue, schemaVersion: status.schemaVersion,
      isInitialized: status.isInitialized, noticesRollback: status.noticesRollback,
      mayBeOlder: vault.isOpen && status.mayBeOlder, path: path)
  }

  /// Checks whether the vault holds what the broker wrote.
  package func checkVault(_ params: CheckVault.Params, _ caller: Caller<CheckVault.Result>) {
    askStore { store throws(StoreFailure) in
      CheckVault.Result(findings: try await store.check(isFull: params.isFull))
    } then: { broker, result in
      broker.answer(caller, result.mapError { BrokerError($0) })
    }
  }
}
