package import BrokerProtocol

/// How the vault is opened, sealed anew, and looked at.
extension Broker {
  /// More requests than this that wait for a key to be tried are refused: each may cost a slow hash.
  static let keyAttemptLimit = 16

  /// Opens the vault, and takes up what rests in it.
  ///
  /// Attempts are taken one at a time. The answer to a wrong passphrase is kept back as ``PassphraseDelay`` says, and so
  /// is the next attempt.
  package func unlock(_ params: Unlock.Params, _ reply: @escaping Reply<Empty>) {
    enqueue(.unlock(params.passphrase, reply))
  }

  /// Seals the vault anew; sessions go on meanwhile.
  package func rekey(_ params: Rekey.Params, _ reply: @escaping Reply<Empty>) {
    enqueue(.rekey(params, reply))
  }

  private func enqueue(_ attempt: KeyAttempt) {
    guard keyAttempts.count < Self.keyAttemptLimit else {
      return attempt.reply(.failure(BrokerError(.overloaded, "Too many requests wait for the vault's key; try again.")))
    }
    keyAttempts.append(attempt)
    tryNextKey()
    finishLocking()
  }

  /// Tries the next key, unless one is being tried, or the vault is just being locked.
  func tryNextKey() {
    while !isTryingKey, gate == .unlocked || gate == .locked, !keyAttempts.isEmpty {
      let attempt = keyAttempts.removeFirst()
      switch (attempt, gate) {
      case (.unlock, .unlocked): attempt.reply(.success(Empty()))
      case (.rekey, .locked): attempt.reply(.failure(BrokerError(.vaultLocked)))
      default: perform(attempt)
      }
    }
  }

  private func perform(_ attempt: KeyAttempt) {
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
        return { $0.refused(attempt, error) }
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
    passphraseDelay.noteSuccess()
    storeStatus = status
    if let contents {
      gate = .unlocked
      publish(.vaultUnlocked, profile: nil)
      restore(contents, to: slots)
      handle(.opened(contents.revocations))
    }
    finish(attempt, .success(Empty()))
  }

  private func refused(_ attempt: KeyAttempt, _ failure: KeyFailure) {
    if gate == .unlocking { gate = .locked }
    if case .store(.tampered(let profile)) = failure { raiseTampering(of: profile) }
    let missing = attempt.missingPassphrase(storeStatus.keySource)
    let error = BrokerError(failure, missing: missing, newPassphrase: attempt.newPassphrase)
    guard failure == .wrongPassphrase else { return finish(attempt, .failure(error)) }
    _ = clock.schedule(at: now.uptime + passphraseDelay.noteFailure()) { [weak self] in
      self?.assumeIsolated { $0.finish(attempt, .failure(error)) }
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
