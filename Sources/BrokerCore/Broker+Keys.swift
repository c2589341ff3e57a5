package import BrokerProtocol

/// How the vault is opened, sealed anew, and looked at.
extension Broker {
  /// Opens the vault, and takes up what rests in it.
  ///
  /// Attempts are taken one at a time, in the order of ``KeyAttemptQueue``. The answer to a wrong passphrase is kept back
  /// as ``PassphraseDelay`` says, and so is the next attempt. `client` is nil for the broker itself.
  package func unlock(_ params: Unlock.Params, from client: ClientID? = nil, _ reply: @escaping Reply<Empty>) {
    enqueue(.unlock(params.passphrase, reply), from: client)
  }

  /// Seals the vault anew; sessions go on meanwhile.
  package func rekey(_ params: Rekey.Params, from client: ClientID? = nil, _ reply: @escaping Reply<Empty>) {
    enqueue(.rekey(params, reply), from: client)
  }

  private func enqueue(_ attempt: KeyAttempt, from client: ClientID?) {
    switch keyAttempts.add(attempt, from: client, limit: ledger.limits[.keyAttempts]) {
    case .admitted: break
    case .displaced(let other): refuseForNumber(other)
    case .full: return refuseForNumber(attempt)
    case .refused:
      let error = BrokerError(.overloaded, "Another request of this connection for the vault's key waits; try again.")
      return attempt.reply(.failure(error))
    }
    tryNextKey()
    finishLocking()
  }

  private func refuseForNumber(_ attempt: KeyAttempt) {
    ledger.note(.keyAttempts)
    attempt.reply(.failure(ledger.error(of: .keyAttempts)))
  }

  /// Keeps the first attempt after a start back, where wrong passphrases were given just before it.
  private func awaitFirstKeyTry() {
    guard let time = firstKeyTry else { return }
    firstKeyTry = nil
    guard now.uptime < time else { return }
    isTryingKey = true
    _ = clock.schedule(at: time) { [weak self] in
      self?.assumeIsolated { broker in
        broker.isTryingKey = false
        broker.tryNextKey()
        broker.finishLocking()
      }
    }
  }

  /// Tries the next key, unless one is being tried, or the vault is just being locked.
  func tryNextKey() {
    if gate == .locked, !isTryingKey, !keyAttempts.isEmpty { awaitFirstKeyTry() }
    while !isTryingKey, gate == .unlocked || gate == .locked, let (client, attempt) = keyAttempts.takeNext() {
      switch (attempt, gate) {
      case (.unlock, .unlocked): attempt.reply(.success(Empty()))
      case (.rekey, .locked): attempt.reply(.failure(BrokerError(.vaultLocked)))
      default: perform(attempt, from: client)
      }
    }
  }

  private func perform(_ attempt: KeyAttempt, from client: ClientID?) {
    isTryingKey = true
    if case .unlock = attempt { gate = .unlocking }
    let (keeper, store, hasSequences) = (self.keeper, self.store, commits.isOpen)
    inBackground {
      do throws(KeyFailure) {
        switch attempt {
        case .rekey(let params, _):
          try await keeper.rekey(params)
          let status = await keeper.status
          return { $0.opened(attempt, nil, status) }
        case .unlock(let passphrase, _):
          try await keeper.unlock(passphrase)
          let contents = try await Self.load(store, keeper)
          let reserved = hasSequences ? nil : await Self.reserveSequences(store, after: contents.lastSequence)
          let status = await keeper.status
          return { broker in
            broker.openEvents(contents, reserved: reserved)
            broker.opened(attempt, contents, status)
          }
        }
      } catch {
        return { $0.refused(attempt, from: client, error) }
      }
    }
  }

  /// Reads the store; one that cannot be read is locked again.
  private static func load(
    _ store: any SessionStore, _ keeper: any StoreKeeper
  ) async throws(KeyFailure) -> StoreContents {
    do throws(StoreFailure) {
      return try await store.load()
    } catch {
      await keeper.lock()
      throw .store(error)
    }
  }

  private func opened(_ attempt: KeyAttempt, _ contents: StoreContents?, _ status: StoreStatus) {
    if passphraseDelay.failures != .none {
      passphraseDelay.noteSuccess()
      keepFailures {}
    }
    keyAttempts.noteSuccess()
    storeStatus = status
    if let contents {
      gate = .unlocked
      publish(.vaultUnlocked, profile: nil)
      restore(contents, to: slots)
      handle(.opened(contents.revocations))
    }
    finish(attempt, .success(Empty()))
  }

  /// Keeps the wrong passphrases so far for the next start, then goes on.
  private func keepFailures(_ next: @escaping @Sendable () -> Void) {
    let (keeper, failures) = (self.keeper, passphraseDelay.failures)
    inBackground {
      await keeper.keep(failures)
      return { _ in next() }
    }
  }

  private func refused(_ attempt: KeyAttempt, from client: ClientID?, _ failure: KeyFailure) {
    if gate == .unlocking { gate = .locked }
    if case .store(.tampered(let profile)) = failure { raiseTampering(of: profile) }
    let missing = attempt.missingPassphrase(storeStatus.keySource)
    let error = BrokerError(failure, missing: missing, newPassphrase: attempt.newPassphrase)
    guard failure == .wrongPassphrase else { return finish(attempt, .failure(error)) }
    keyAttempts.noteFailure(of: client)
    let time = now.uptime + passphraseDelay.noteFailure(at: now.wall)
    // Before the answer: ending the broker after it does not end the delay.
    keepFailures { [weak self] in
      self?.assumeIsolated { broker in
        _ = broker.clock.schedule(at: time) { [weak self] in
          self?.assumeIsolated { $0.finish(attempt, .failure(error)) }
        }
      }
    }
  }

  private func finish(_ attempt: KeyAttempt, _ result: Result<Empty, BrokerError>) {
    isTryingKey = false
    attempt.reply(result)
    if !lockReplies.isEmpty {
      switch gate {
      case .unlocked: closeGate()
      case .locked: acknowledgeLocks()
      case .locking, .unlocking: break
      }
    }
    tryNextKey()
    finishLocking()
  }

  /// Whoever wanted the vault locked while a key was tried that did not open it has what they wanted.
  private func acknowledgeLocks() {
    let replies = lockReplies
    lockReplies = []
    for reply in replies { reply(.success(Empty())) }
  }

  /// Looks whether the vault holds what the broker wrote.
  package func checkVault(_ params: CheckVault.Params, _ reply: @escaping Reply<CheckVault.Result>) {
    do throws(BrokerError) {
      try requireUnlocked()
    } catch {
      return reply(.failure(error))
    }
    let keeper = self.keeper
    inBackground {
      do throws(StoreFailure) {
        let findings = try await keeper.check(isFull: params.isFull)
        return { _ in reply(.success(CheckVault.Result(findings: findings))) }
      } catch {
        return { _ in reply(.failure(BrokerError(error))) }
      }
    }
  }
}
