import BrokerProtocol

/// The profiles of a first configuration, of which nothing is known yet: made while the store is opened, for the broker that
/// will have them.
package struct FirstProfiles {
  /// The profiles.
  let profiles: Profiles
  /// What each of them is bound to.
  let bindings: [ProfileName: ProviderBinding]

  /// Makes the profiles; `entropy` is the broker's.
  package init(_ settings: [ProfileSettings], entropy: any Entropy) {
    profiles = Profiles(settings) { Broker.machine(for: $0, entropy) }
    bindings = Broker.bindings(of: profiles.configured)
  }
}
