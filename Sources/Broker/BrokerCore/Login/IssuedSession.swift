import BrokerProtocol

/// A session that a provider has given for a login.
struct IssuedSession: Sendable {
  /// The profile and the provider that a session is asked for.
  struct Issuer: Sendable {
    /// The provider.
    let provider: any AuthProvider
    /// The profile, and its stay in the configuration.
    let slot: SlotID

    /// The provider of a profile.
    init(_ slot: ProfileSlot) {
      provider = slot.provider
      self.slot = slot.id
    }

    /// The profile.
    var profile: ProfileName { slot.profile }
  }

  /// The session.
  let session: ProviderSession
  /// Who has given it.
  let issuer: Issuer
  /// When it was asked for.
  let sentAt: Moment
}
