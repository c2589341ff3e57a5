import BrokerProtocol

/// The profiles that a principal is shown: no other profile exists for it, in content, count or time.
///
/// A request finds its profile in here alone. A view is made when it is needed, and never kept: it shows the
/// configuration of that moment.
struct View {
  private let profiles: Profiles
  private let principal: Principal
  private var visible: ProfileMask { principal.shown }

  /// The view of a principal on these profiles.
  init(of principal: Principal, _ profiles: Profiles) {
    self.profiles = profiles
    self.principal = principal
  }

  /// Whether a profile is shown, configured or not, to the method at hand.
  func sees(_ name: ProfileName) -> Bool { visible.includes(name) && principal.permits(name) }

  /// The configured profiles that the method at hand may be called with.
  var slots: [ProfileSlot] {
    visible.isAll
      ? profiles.configured
      : profiles.index.positions(in: visible).map { profiles.configured[$0] }.filter { principal.permits($0.name) }
  }

  /// The configured profile of a name.
  func slot(named name: ProfileName) -> ProfileSlot? { visible.includes(name) ? profiles[name] : nil }

  /// The profile of a request: the one it names, else the only one, else `default`.
  func slot(for name: ProfileName?) throws(BrokerError) -> ProfileSlot {
    if let name {
      guard let slot = slot(named: name) else { throw unknownProfile(name) }
      return try permitted(slot)
    }
    guard let position = profiles.index.unnamed(in: visible) else {
      let words = namesInWords.map { "Several profiles are configured (\($0)), and the request names none." }
      throw BrokerError(.unknownProfile, words ?? "No profile is configured.")
    }
    return try permitted(profiles.configured[position])
  }

  /// A profile, unless the rules keep the method at hand from it.
  private func permitted(_ slot: ProfileSlot) throws(BrokerError) -> ProfileSlot {
    guard principal.permits(slot.name) else {
      throw .notAllowed(principal.method ?? "", with: slot.name, by: principal.permissions)
    }
    return slot
  }

  /// The profiles that a request means: the one it names, else all.
  func slots(for name: ProfileName?) throws(BrokerError) -> [ProfileSlot] {
    try name.map { name throws(BrokerError) in [try slot(for: name)] } ?? slots
  }

  /// The error of a name that no profile has.
  func unknownProfile(_ name: ProfileName) -> BrokerError {
    let others = namesInWords.map { "; it has \($0)" } ?? ""
    return BrokerError(.unknownProfile, "There is no profile \(name) in the configuration\(others).", profile: name)
  }

  /// The names to choose from, the first few of many; nil where there are none.
  private var namesInWords: String? {
    // As many as a person reads on one line.
    let most = 8
    let all = profiles.index.positions(in: visible).map { profiles.configured[$0] }
    guard !all.isEmpty else { return nil }
    let names = all.prefix(most).map(\.name.description).joined(separator: ", ")
    return all.count > most ? "\(names) and \(all.count - most) more" : names
  }
}

extension Broker {
  /// The present view of a principal.
  func view(of principal: Principal) -> View { View(of: principal, profiles) }

  /// Finds the profile of a request, with the capability that its provider needs for it.
  ///
  /// - Throws: `vaultLocked`, `unknownProfile`, `unsupportedByProvider`.
  func slot<Capability>(
    for profile: ProfileName?, with path: CapabilityPath<Capability>, as principal: Principal
  ) throws(BrokerError) -> (slot: ProfileSlot, capability: Capability) {
    try requireUnlocked()
    let slot = try view(of: principal).slot(for: profile)
    return (slot, try require(path, of: slot))
  }
}
