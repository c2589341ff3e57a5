import BrokerProtocol

/// A session that a provider has given for a login.
struct IssuedSession: Sendable {
  /// The profile and the provider that a session is asked for.
  struct Issuer: Sendable {
    /// The provider.
    let provider: any AuthProvider
    /// The profile.
    let profile: ProfileName
    /// The stay of the profile in the configuration.
    let slot: UInt64

    /// The provider of a profile.
    init(_ slot: ProfileSlot) {
      provider = slot.provider
      profile = slot.name
      self.slot = slot.id
    }
  }

  /// The session.
  let session: ProviderSession
  /// Who has given it.
  let issuer: Issuer
  /// When it was asked for.
  let sentAt: Moment
}
