package import BrokerProtocol

/// A session that a provider has begun.
package struct ProviderSession: Sendable {
  /// Its tokens.
  package var tokens: TokenSet
  /// Whose it is, where the provider says so at once.
  package var user: User?
  /// How many backup codes are left, where the provider says so.
  package var backupCodesRemaining: Int?
  /// Whether a refresh spends the refresh token; nil where only the replies will show it.
  package var rotatesRefreshToken: Bool?
  /// What ends with a token that is revoked, as the broker has seen at this provider; nil where it has not.
  var seenHabit: RevocationHabit?

  package init(
    tokens: TokenSet, user: User?, backupCodesRemaining: Int? = nil, rotatesRefreshToken: Bool? = nil
  ) {
    self.tokens = tokens
    self.user = user
    self.backupCodesRemaining = backupCodesRemaining
    self.rotatesRefreshToken = rotatesRefreshToken
  }
}
