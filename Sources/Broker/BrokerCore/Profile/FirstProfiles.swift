import BrokerProtocol

/// The profiles of a first configuration, of which nothing is known yet: made while the store is opened, for the broker that
/// will have them.
package struct FirstProfiles {
  /// The profiles.
  let profiles: Profiles
  /// What each of them is bound to.
  let bindings: [ProfileName: ProviderBinding]

  /// Makes the profiles; `entropy` is the broker's, and `boot` its clock's.
  package init(_ settings: [ProfileSettings], entropy: any Entropy, boot: String?) {
    profiles = Profiles(settings) { Broker.machine(for: $0, entropy, boot: boot) }
    bindings = Broker.bindings(of: profiles.configured)
  }
}
