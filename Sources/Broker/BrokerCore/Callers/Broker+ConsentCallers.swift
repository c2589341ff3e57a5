import BrokerProtocol

/// Callers that wait for their owner's consent.
extension Broker {
  /// Lets a caller wait for consent; `resumption` goes on with its request.
  ///
  /// Its own time does not run meanwhile: that begins where it waits for a token.
  func hold(_ caller: CallerID, for profile: ProfileName, _ resumption: @escaping Callers.Resumption) {
    callers.update(caller) { entry in
      entry.deadline?.cancel()
      entry.deadline = nil
      entry.wait = .consent(profile)
      entry.resumption = resumption
    }
  }

  /// Lets a caller wait for the record of its profile; `resumption` goes on with its request.
  func wait(_ caller: CallerID, _ resumption: @escaping Callers.Resumption) {
    callers.update(caller) { $0.resumption = resumption }
  }

  /// Goes on with the request of a caller that has waited for consent, or for a record: by this one, else it may ask once more.
  func resume(_ caller: CallerID, _ consent: Callers.Consent? = nil) {
    guard let entry = callers[caller], let resumption = entry.resumption else { return }
    callers.update(caller) { entry in
      entry.wait = .request
      entry.resumption = nil
      entry.consent = consent
    }
    do throws(BrokerError) {
      try requireUnlocked()
      try resumption(self, entry.principal)
    } catch {
      refuse(caller, error)
    }
  }

  /// Serves a caller once more where it has waited for a login, or the session was replaced by another: the consent may have
  /// ended, and was not for that one.
  ///
  /// - Returns: whether it is served another time.
  func isServedAgain(_ caller: CallerID) -> Bool {
    guard let consented = callers[caller]?.consented, isSessionReplaced(since: consented) else { return false }
    callers.update(caller) { entry in
      entry.consented = nil
      entry.resumption = consented.again
    }
    resume(caller)
    return true
  }

  /// Notes the session for which a caller is, or will be, consented to; `again` serves it once more.
  func noteConsented(_ caller: CallerID, for slot: SlotID, again: @escaping Callers.Resumption) {
    guard let slot = self.slot(slot) else { return }
    let consented = Callers.Consented(slot: slot.id, session: slot.sessions, again: again)
    callers.update(caller) { $0.consented = consented }
  }

  /// Whether there is another session than when consent was asked for; one without a login is always the same.
  private func isSessionReplaced(since consented: Callers.Consented?) -> Bool {
    guard let consented, let slot = slot(consented.slot), !slot.machine.isUnattended else { return false }
    return slot.sessions != consented.session
  }

  /// Takes out the consent that a caller has; nil where it has none to this, and for this session.
  func takeConsent(of caller: CallerID, for demand: Consents.Demand) -> Callers.Consent? {
    guard let entry = callers[caller], let consent = entry.consent else { return nil }
    callers.update(caller) { $0.consent = nil }
    return consent.demand == demand && !isSessionReplaced(since: entry.consented) ? consent : nil
  }

  /// Takes in that a connection has other permissions: its requests that wait for consent are judged by them, where that
  /// makes a difference.
  func renewConsents(of client: ClientID, _ permissions: Permissions) {
    for (caller, profile) in callers.waitingForConsent {
      guard let asking = callers[caller]?.principal, asking.client == client else { continue }
      var renewed = asking
      renewed.permissions = permissions
      callers.update(caller) { $0.principal = renewed }
      let isSame =
        asking.keeps(profile, by: permissions) && asking.confirmation(of: profile) == renewed.confirmation(of: profile)
      guard !isSame else { continue }
      leaveConsent(caller)
      resume(caller)
    }
  }
}
