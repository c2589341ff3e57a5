import BrokerProtocol

/// The profiles of the configuration, and those that have left it in the middle of a refresh.
struct Profiles {
  /// The configured profiles, in the order of the configuration.
  private(set) var configured: [ProfileSlot]
  /// Profiles that have left the configuration, until the result of their refresh is saved.
  private(set) var leaving: [ProfileSlot] = []
  /// Finds a configured profile by its name.
  private(set) var index: ProfileIndex
  /// The profiles whose tokens are issued for those of another one, by the name of that.
  private(set) var dependents: [ProfileName: [ProfileName]]
  /// How many slots there ever were; names the next one.
  private var slotCount: UInt64

  /// The profiles of a first configuration; `makeMachine` makes the machine of a profile without a restored session.
  init(_ settings: [ProfileSettings], _ makeMachine: (ProfileSettings) -> SessionMachine) {
    configured = settings.enumerated().map { ProfileSlot(UInt64($0), $1, makeMachine($1)) }
    for (position, slot) in configured.enumerated() { slot.position = position }
    slotCount = UInt64(settings.count)
    index = ProfileIndex(settings.map(\.name))
    dependents = Self.dependents(settings)
  }

  private static func dependents(_ settings: [ProfileSettings]) -> [ProfileName: [ProfileName]] {
    var dependents: [ProfileName: [ProfileName]] = [:]
    for profile in settings {
      for subject in Set((profile.provider.capabilities.grant?.subjects ?? []).map(\.profile)) {
        dependents[subject, default: []].append(profile.name)
      }
    }
    return dependents
  }

  /// All profiles that may hold a session.
  var all: [ProfileSlot] { configured + leaving }

  /// The position of a profile; nil where it is not configured.
  func position(of slot: ProfileSlot) -> Int? {
    configured.indices.contains(slot.position) && configured[slot.position] === slot ? slot.position : nil
  }

  /// The configured profile of a name.
  subscript(name: ProfileName) -> ProfileSlot? { index.find(name).map { configured[$0] } }

  /// The profile that holds the session of a name: also one that is leaving.
  func holder(of name: ProfileName) -> ProfileSlot? { self[name] ?? leaving.first { $0.name == name } }

  /// Adopts another configuration: a profile with the same binding keeps its state.
  mutating func configure(_ settings: [ProfileSettings], _ makeMachine: (ProfileSettings) -> SessionMachine) {
    let known = Dictionary(all.map { ($0.name, $0) }) { first, _ in first }
    configured = settings.map { settings in
      guard let slot = known[settings.name],
        slot.machine.binding == settings.provider.binding
      else {
        slotCount += 1
        return ProfileSlot(slotCount, settings, makeMachine(settings))
      }
      slot.provider = settings.provider
      slot.allowsIDToken = settings.allowsIDToken
      slot.requests = settings.requests
      slot.records = settings.records
      slot.machine.serve(settings.provider, isShared: settings.records != nil)
      slot.rendered.forget()
      return slot
    }
    for (position, slot) in configured.enumerated() { slot.position = position }
    let index = ProfileIndex(configured.map(\.name))
    self.index = index
    dependents = Self.dependents(settings)
    leaving.removeAll { index.find($0.name) != nil }
  }

  /// Keeps a profile that was taken out of the configuration, if something of it is still to be saved.
  mutating func retire(_ slot: ProfileSlot) {
    if self[slot.name] == nil, slot.machine.isUnsettled { leaving.append(slot) }
  }

  /// Forgets the leaving profiles that have nothing to be saved any more.
  ///
  /// - Returns: whether there was one.
  mutating func forgetSettled() -> Bool {
    guard !leaving.isEmpty else { return false }
    let count = leaving.count
    leaving.removeAll { !$0.machine.isUnsettled }
    return leaving.count < count
  }

  /// Forgets all leaving profiles: their tokens are gone.
  mutating func forgetLeaving() { leaving = [] }
}

/// The profiles of a first configuration, before anything is restored: made while the store is opened, for the broker
/// that will have them.
package struct FirstProfiles {
  /// The profiles.
  let profiles: Profiles
  /// The provider binding of each.
  let bindings: [ProfileName: ProviderBinding]

  /// Makes the profiles; `entropy` is the broker's, and `boot` its clock's.
  package init(_ settings: [ProfileSettings], entropy: any Entropy, boot: String?) {
    profiles = Profiles(settings) { Broker.machine(for: $0, entropy, boot: boot) }
    bindings = Broker.bindings(of: profiles.configured)
  }
}
