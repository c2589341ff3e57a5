import BrokerProtocol

/// Callers that wait for their owner's consent.
extension Broker {
  /// Lets a caller wait for consent; `resumption` goes on with its request.
  ///
  /// Its own time does not run meanwhile: that begins where it waits for a token.
  func hold(_ caller: CallerID, for profile: ProfileName, _ resumption: @escaping Callers.Resumption) {
    callers.update(caller) { entry in
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

  /// Takes out the consent that a caller has; nil where it has none.
  func takeConsent(of caller: CallerID) -> Callers.Consent? {
    guard let consent = callers[caller]?.consent else { return nil }
    callers.update(caller) { $0.consent = nil }
    return consent
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
