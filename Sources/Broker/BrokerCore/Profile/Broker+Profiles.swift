import BrokerProtocol

/// Finds the profiles of requests, and of work that was begun for them.
extension Broker {
  /// The configured profiles.
  var slots: [ProfileSlot] { profiles.configured }

  /// The machine of a profile without a restored session.
  static func machine(
    for settings: ProfileSettings, _ entropy: any Entropy, boot: String? = nil
  ) -> SessionMachine {
    var machine = SessionMachine(
      profile: settings.name, binding: settings.provider.binding, rules: settings.rules, boot: boot,
      tokenID: { token in entropy.tokenID(of: token) })
    machine.serve(settings.provider, isShared: settings.records != nil)
    return machine
  }

  /// Empties the cache of answers, and lets it find the profiles that are configured now.
  func resetAnswers() {
    noteConsentUses()
    autoLock.used(at: answers.lastUse)
    answers.reset(profiles.index)
  }

  /// The configured profile of a name.
  func slot(named name: ProfileName) -> ProfileSlot? { profiles[name] }

  /// The stay of a profile for which something was begun; nil where it has left the configuration meanwhile.
  func slot(_ id: SlotID) -> ProfileSlot? { slot(named: id.profile).flatMap { $0.id == id ? $0 : nil } }

  /// The profile that holds the session of a name: also one that has gone from the configuration in the middle of a
  /// refresh.
  func holder(of name: ProfileName) -> ProfileSlot? { profiles.holder(of: name) }

  /// The stay of a profile for which a refresh was begun, if it still holds the session.
  func holder(_ id: SlotID) -> ProfileSlot? { holder(of: id.profile).flatMap { $0.id == id ? $0 : nil } }
}

/// Finding a request's profile and provider.
extension Broker {
  /// Gives a capability of a profile's provider.
  ///
  /// - Throws: `unsupportedByProvider`.
  func require<Capability>(
    _ path: CapabilityPath<Capability>, of slot: ProfileSlot
  ) throws(BrokerError) -> Capability {
    do throws(ProviderFailure) {
      return try slot.provider.require(path)
    } catch {
      throw BrokerError(error, profile: slot.name)
    }
  }
}
