import BrokerProtocol

/// Finds the profiles that requests and what was begun for them mean.
extension Broker {
  /// The configured profiles.
  var slots: [ProfileSlot] { profiles.configured }

  /// The machine of a profile of which nothing is known yet.
  static func machine(
    for settings: ProfileSettings, _ entropy: any Entropy, boot: String? = nil
  ) -> SessionMachine {
    SessionMachine(
      profile: settings.name, binding: settings.provider.binding, rules: settings.rules, boot: boot,
      tokenID: { token in entropy.tokenID(of: token) })
  }

  /// Empties the cache of answers, and lets it find the profiles that are configured now.
  func resetAnswers() {
    autoLock.used(at: answers.lastUse)
    answers.reset(profiles.index)
  }

  /// The configured profile of a name.
  func slot(named name: ProfileName) -> ProfileSlot? { profiles[name] }

  /// The stay of a profile that something was begun for; nil where it has gone from the configuration meanwhile.
  func slot(_ id: SlotID) -> ProfileSlot? { slot(named: id.profile).flatMap { $0.id == id ? $0 : nil } }

  /// The profile that holds the session of a name: also one that has gone from the configuration in the middle of a
  /// refresh.
  func holder(of name: ProfileName) -> ProfileSlot? { profiles.holder(of: name) }

  /// The stay of a profile that a refresh was begun for, if it still holds the session.
  func holder(_ id: SlotID) -> ProfileSlot? { holder(of: id.profile).flatMap { $0.id == id ? $0 : nil } }

  /// The profile that a request means: the one it names, else the only one, else `default`.
  func slot(for name: ProfileName?) throws(BrokerError) -> ProfileSlot {
    if let name {
      guard let slot = slot(named: name) else {
        throw unknownProfile(name)
      }
      return slot
    }
    guard let position = profiles.index.unnamed(in: .all) else {
      throw BrokerError(
        .unknownProfile, "Several profiles are configured (\(namesInWords)), and the request names none.")
    }
    return slots[position]
  }

  /// The error of a name that no profile has.
  func unknownProfile(_ name: ProfileName) -> BrokerError {
    BrokerError(
      .unknownProfile, "There is no profile \(name) in the configuration; it has \(namesInWords).", profile: name)
  }

  /// The names to choose from; the first few of many.
  private var namesInWords: String {
    // As many as a person reads on one line.
    let most = 8
    let names = slots.prefix(most).map(\.name.description).joined(separator: ", ")
    return slots.count > most ? "\(names) and \(slots.count - most) more" : names
  }
}

/// How a request gets the provider that it needs.
extension Broker {
  /// Gives the profile that a request means, and what its provider must be able to do for it.
  ///
  /// - Throws: `vaultLocked`, `unknownProfile`, `unsupportedByProvider`.
  func slot<Capability>(
    for profile: ProfileName?, with path: CapabilityPath<Capability>
  ) throws(BrokerError) -> (slot: ProfileSlot, capability: Capability) {
    try requireUnlocked()
    let slot = try slot(for: profile)
    return (slot, try require(path, of: slot))
  }

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
