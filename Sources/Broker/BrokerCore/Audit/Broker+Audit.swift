package import BrokerProtocol

/// Noting grants, refusals and consents, and writing them.
extension Broker {
  /// Turns the audit on or off.
  package func setAudit(_ isOn: Bool) {
    takeCachedGrants()
    answers.endLoans()
    if !isOn { answers.settleGrants() }
    if vault.isOpen { perform(audit.setStoreOpen(true, at: now)) }
    perform(audit.set(isOn, at: now))
    beginAuditIfDue()
  }

  /// Waits until what was noted is written, or cannot be: what comes before the first entry of a broker that is killed
  /// would leave no trace.
  package func settleAudit() async {
    guard !audit.isSettled else { return }
    await withCheckedContinuation { (ended: CheckedContinuation<Void, Never>) in writeAudit { _ in ended.resume() } }
  }

  /// Notes that a client gets a token, before its first byte is written.
  ///
  /// - Parameters:
  ///   - grant: the token, without it.
  ///   - client: the client, and its number in the cache of answers: what that gives it of the same token within the
  ///     minute is counted there.
  ///   - method: the method that it called.
  package func note(_ grant: Grant, to client: (audited: AuditedClient, number: Int), by method: String) {
    guard audit.isOn else { return }
    // Those of a span that is over are of that one.
    takeCachedGrants()
    let (span, actions) = audit.note(AuditFact(grant, to: client.audited, by: method), at: now)
    if let span, grant.isOwn, method == GetAccessToken.name, let slot = slot(named: grant.profile),
      let position = profiles.position(of: slot)
    {
      answers.cover(client.number, at: position, as: span.id, until: span.until)
    }
    if let span, method == OpenDoor.name { lentSpan = .init(id: span.id, until: span.until.milliseconds) }
    perform(actions)
  }

  /// Notes a refusal, or how a question for consent has ended.
  package func note(_ fact: AuditFact) { perform(audit.note(fact, at: now).actions) }

  /// The session's own token, for the audit.
  func grant(of slot: ProfileSlot) -> Grant? {
    guard let tokens = slot.machine.living?.tokens else { return nil }
    return Grant(
      profile: slot.name, scopes: tokens.scopes, tokenID: entropy.tokenID(of: tokens.accessToken.value), isOwn: true)
  }

  /// A token for another target, for the audit.
  func grant(of slot: ProfileSlot, _ token: OtherToken) -> Grant {
    Grant(
      profile: slot.name, scopes: token.scopes, audience: token.target.audience,
      tokenID: entropy.tokenID(of: token.accessToken))
  }

  /// The token that a request for a target was just given, for the audit.
  func grant(of id: SlotID, forScopes scopes: [String], _ audience: String?) -> Grant? {
    guard let slot = slot(id) else { return nil }
    let target = TokenTarget(scopes: scopes, audience: audience)
    return slot.machine.otherToken(for: target).map { grant(of: slot, $0) } ?? grant(of: slot)
  }

  /// The session's ID token, for the audit.
  func idTokenGrant(of slot: ProfileSlot) -> Grant? {
    slot.machine.living?.tokens.idToken.map { Grant(profile: slot.name, tokenID: entropy.tokenID(of: $0)) }
  }
}

/// Reading and ending the audit.
extension Broker {
  /// Reads a page of the audit, or verifies all of it; what waits is written before.
  package func readAudit(_ params: ReadAudit.Params, _ caller: Caller<ReadAudit.Result>) throws(BrokerError) {
    if let head = params.head, !AuditHead.isWellFormed(head) {
      let sentence = "The parameter /head must be a head of the audit, as the log has it: NUMBER.CHAIN."
      throw BrokerError(.invalidParams, sentence, pointer: "/head")
    }
    writeAudit { broker in
      let isOn = broker.audit.isOn
      broker.askStore { store throws(StoreFailure) in
        let page = try await store.readAudit(after: params.after ?? 0, since: params.since, profile: params.profile)
        var result = ReadAudit.Result(
          entries: page.entries, through: page.through, omitted: max((page.head?.number ?? 0) - page.through, 0),
          head: page.head?.text, isOn: isOn)
        if params.verifies {
          (result.entries, result.verification) = ([], try await store.verifyAudit(against: params.head))
        }
        return result
      } then: { broker, result in
        broker.answer(caller, result.mapError { BrokerError($0) })
      }
    }
  }

  /// Writes what was noted so far, then goes on, also where it cannot be written.
  package func writeAudit(
    withRepetitions: Bool = false, then go: @escaping @Sendable (isolated Broker) -> Void
  ) {
    takeCachedGrants()
    auditWaits.append(go)
    perform(audit.hurry(at: now, withRepetitions: withRepetitions))
  }

  /// Ends the audit in order, before the end of the process.
  package func endAudit() async {
    setAudit(false)
    await settleAudit()
  }

  /// Takes in that the store is open from now on.
  func openAudit() {
    perform(audit.setStoreOpen(true, at: now))
    beginAuditIfDue()
  }

  /// Takes in that the store is closed from now on; what is noted meanwhile is kept as long as there is room.
  func closeAudit() { perform(audit.setStoreOpen(false, at: now)) }
}

/// Carrying out the actions of the trail.
extension Broker {
  private func perform(_ actions: [AuditTrail.Action]) {
    for action in actions {
      switch action {
      case .append(let entries): append(entries)
      case .tell(let notice): notify(.audit(notice))
      }
    }
    if audit.isSettled, !auditWaits.isEmpty {
      let waits = auditWaits
      auditWaits = []
      for go in waits { go(self) }
    }
    setAuditTimer()
  }

  private func append(_ entries: [AuditEntry]) {
    askStore { store throws(StoreFailure) in
      try await store.appendAudit(entries)
    } then: { broker, result in
      switch result {
      case .success(let head): broker.perform(broker.audit.appended(head, at: broker.now))
      case .failure(let failure):
        if case .tampered(let profile) = failure { broker.raiseTampering(of: profile) }
        broker.perform(broker.audit.failed(at: broker.now))
      }
    }
  }

  /// Finds out, once, whether the broker before this one has ended without a last word.
  private func beginAuditIfDue() {
    guard audit.wantsBeginning else { return }
    askStore { store throws(StoreFailure) in
      try await store.auditState()
    } then: { broker, result in
      // It fails where the vault is locked, whose next opening begins again.
      guard case .success(let state) = result else { return }
      broker.perform(broker.audit.begin(afterInterruption: state.isInterrupted, at: broker.now))
    }
  }

  /// Adds what the cache has given since the last call.
  private func takeCachedGrants() {
    guard audit.isOn else { return }
    audit.add(answers.takeGrants(), at: now)
  }

  private func setAuditTimer() {
    let next = audit.nextTick
    guard next != auditTimer?.time else { return }
    auditTimer?.timer.cancel()
    auditTimer = next.map { time in
      let timer = schedule(at: time) { broker in
        broker.auditTimer = nil
        broker.takeCachedGrants()
        broker.perform(broker.audit.tick(at: broker.now))
      }
      return (time, timer)
    }
  }
}

extension AuditHead {
  /// Whether a text can be that of a head.
  static func isWellFormed(_ text: String) -> Bool {
    let parts = text.split(separator: ".", omittingEmptySubsequences: false)
    return parts.count == 2 && Int(parts[0]).map { $0 > 0 } == true && parts[1].utf8.count == chainLength
      && parts[1].utf8.allSatisfy { $0 == 0x2D || $0 == 0x5F || isLetterOrDigit($0) }
  }

  /// How many characters the chain has: 32 bytes as base64url.
  package static let chainLength = 43

  private static func isLetterOrDigit(_ byte: UInt8) -> Bool {
    (0x30...0x39).contains(byte) || (0x61...0x7A).contains(byte | 0x20)
  }
}
