package import BrokerProtocol
import SecretMemory

/// Parking of sessions that a change of the configuration has signed out.
extension Broker {
  /// The parked sessions of the profiles that a principal is shown: they come back when the configuration is as before.
  package func parkedSessions(for principal: Principal) -> [GetStatus.ParkedSession] {
    guard vault.isOpen else { return [] }
    let view = view(of: principal)
    return parked.all.filter { view.sees($0.id.profile) }.map { id, end in
      GetStatus.ParkedSession(profile: id.profile, provider: id.binding.type, until: end)
    }
  }

  /// Parks the session of a profile that has another binding now, before it is forgotten.
  func park(_ slot: ProfileSlot) {
    let machine = slot.machine
    guard !machine.isConfigured, let session = machine.sessionToPark(at: now) else { return }
    let record = SessionRecord(
      profile: slot.name, binding: machine.binding, generation: machine.generation, contents: .living(session))
    let mayBeSpent = machine.mayStillSpend || machine.isOutcomeUnknown
    let kept = ParkedSession(record, since: now.wall, mayBeSpent: mayBeSpent)
    keep(kept, by: slot.provider)
    guard let flight = machine.flightUnderWay, let sent = slot.sent, sent.flight == flight.refresh.flights else {
      return
    }
    parked.expect(flight, on: sent.on, for: kept)
  }

  private func keep(_ session: ParkedSession, by provider: (any AuthProvider)? = nil) {
    parked.insert(session, by: provider)
    change(StoreChange(.note, [.park(session)], of: session.id.profile))
    notify(.problem(.parked(session.id.profile, until: session.end)))
    scheduleParked()
  }

  /// Takes the answer to a refresh of a parked session: the refresh token that came with it is the one that counts.
  ///
  /// - Returns: false where no such session is kept.
  func takeLate(_ tokens: TokenSet, of id: SlotID) -> Bool {
    // A vault that is being locked keeps what still comes.
    guard vault.phase != .locked, var session = parked.takeAwaited(id),
      case .living(var living) = session.record.contents
    else {
      return false
    }
    if let refreshToken = tokens.refreshToken {
      living.tokens.refreshToken = refreshToken
      living.tokens.refreshTokenExpiresAt = tokens.refreshTokenExpiresAt
    }
    session.record.contents = .living(living.resting())
    session.mayBeSpent = false
    parked.update(session)
    change(StoreChange(.note, [.park(session)], of: id.profile))
    return true
  }

  /// The profile whose session waits for the answer to a flight that was sent on a stay: that stay, or the later one to
  /// which the session has come back.
  func slotAwaiting(_ id: SlotID) -> ProfileSlot? { holder(id) ?? parked.takeReturned(id).flatMap { holder($0) } }

  /// Takes in that a refresh whose session is kept has failed.
  func takeLate(_ failure: ProviderFailure, of id: SlotID) {
    guard let session = parked.takeAwaited(id), case .sessionEnded = failure else { return }
    forget(session.id)
  }

  private func forget(_ id: ParkedSession.ID) {
    _ = parked.remove(id)
    change(StoreChange(.note, [.unpark(id)], of: id.profile))
    scheduleParked()
  }
}

/// Restoring parked sessions.
extension Broker {
  /// Restores the parked sessions of the store, and parks the stored sessions of profiles that are no longer
  /// configured.
  func restoreParked(_ contents: StoreContents) {
    parked.load(contents.parked)
    for record in contents.records where profiles.index.find(record.profile) == nil {
      let id = ParkedSession.ID(record.profile, record.binding)
      guard case .living = record.contents, holder(of: record.profile) == nil, !parked.contains(id) else { continue }
      var left = record
      left.contents = .signedOut(at: now.wall)
      keep(ParkedSession(left, since: now.wall))
    }
    scheduleParked()
  }

  /// Parks the session of a profile that has left the configuration in the middle of a refresh, which is saved now.
  func parkLeft() {
    guard vault.isOpen else { return }
    askStore { store throws(StoreFailure) in
      try await store.load()
    } then: { broker, result in
      if case .success(let contents) = result, broker.vault.isOpen { broker.restoreParked(contents) }
    }
  }

  /// Parks the stored session of a profile that has another binding now.
  func park(_ record: SessionRecord, mayBeSpent: Bool) {
    guard case .living(let session) = record.contents,
      session.tokens.refreshToken != nil || session.tokens.accessTokenExpiresAt.map({ $0 > now.wall }) ?? true
    else { return }
    keep(ParkedSession(record, since: now.wall, mayBeSpent: mayBeSpent))
  }

  /// Brings back the session that is parked for a profile as it is configured now; its first use asks the provider.
  ///
  /// - Parameters:
  ///   - slot: the profile, of which nothing is known yet.
  ///   - contents: what the store holds.
  ///   - own: what rests under the profile's own name.
  ///   - generation: the newest generation of the profile's records.
  /// - Returns: false where none is kept.
  func bringBack(
    to slot: ProfileSlot, from contents: StoreContents, own: SessionRecord?, after generation: UInt64
  ) -> Bool {
    let id = ParkedSession.ID(slot.name, slot.provider.binding)
    guard parked.contains(id) else { return false }
    if let own, own.binding == id.binding, case .living = own.contents {
      forget(id)
      return false
    }
    guard let kept = parked.newest(contents).first(where: { $0.id == id }), var session = kept.session else {
      return false
    }
    let mayBeSpent = kept.mayBeSpent || contents.mayBeOlder
    // Whether it lives still is the provider's word: the first use asks for new tokens, but not with a token that may be
    // spent, which could cost the session while its access token lives.
    if session.tokens.refreshToken != nil, !mayBeSpent { session.tokens.accessTokenExpiresAt = session.issuedAt }
    let record = SessionRecord(
      profile: id.profile, binding: id.binding, generation: max(generation, kept.record.generation) + 1,
      contents: .living(session))
    let intent =
      mayBeSpent
      ? RefreshIntent(profile: id.profile, generation: record.generation, startedAt: Timestamp(milliseconds: 0)) : nil
    let awaited = parked.bringBack(id, to: slot.id)
    slot.sent = awaited.map { ($0.flight.refresh.flights, $0.stay) }
    let event = EventPayload.login(LoginEvent(userID: session.user?.id, method: Self.restoration))
    let steps = [StoreStep.record(record), .unpark(id)] + (intent.map { [.openIntent($0)] } ?? [])
    change(StoreChange(.record, steps, telling: [event], of: id.profile))
    handle(.restored(record, intent: intent, flight: awaited?.flight), on: slot)
    if let verdict = clockSources.verdict { handle(.clockJudged(verdict), on: slot) }
    slot.stepUp = slot.machine.living?.stepUp
    slot.view.revocation = slot.machine.living?.revocation ?? slot.view.revocation
    scheduleParked()
    handle(.sessionChanged(id.profile))
    return true
  }

  /// The method that the event of a restored session names.
  private static let restoration = "restored"
}
