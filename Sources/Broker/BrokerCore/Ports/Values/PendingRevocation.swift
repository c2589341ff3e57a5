package import BrokerProtocol

/// Tokens that are still to be revoked at their provider.
///
/// The revocation is kept in the store until the provider has answered, so that neither a crash nor a dead network
/// leaves a session alive at the provider that its user has ended.
package struct PendingRevocation: Sendable, Equatable {
  /// Names one of them.
  package struct ID: Hashable, Sendable {
    /// The profile that the tokens were of.
    package let profile: ProfileName
    /// Never used twice for a profile while the first use is still known.
    package let number: UInt64

    package init(profile: ProfileName, number: UInt64) {
      self.profile = profile
      self.number = number
    }
  }

  /// Its name.
  package var id: ID
  /// The binding of the tokens: they are sent nowhere else.
  package var binding: ProviderBinding
  /// The tokens.
  package var tokens: TokenSet
  /// The tokens' user, by the provider's name for the account; nil where it is not known.
  package var userID: String?
  /// Whether all sessions of the user are to end.
  package var everywhere: Bool
  /// When the session was ended here.
  package var startedAt: Timestamp

  package init(
    id: ID, binding: ProviderBinding, tokens: TokenSet, userID: String? = nil, everywhere: Bool, startedAt: Timestamp
  ) {
    self.id = id
    self.binding = binding
    self.tokens = tokens
    self.userID = userID
    self.everywhere = everywhere
    self.startedAt = startedAt
  }
}
