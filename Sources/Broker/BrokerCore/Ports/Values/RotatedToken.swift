package import BrokerProtocol
package import SecretMemory

/// All that is of use in the answer to a refresh: the next refresh token, which may be the only copy of the session.
package struct RotatedToken: Sendable, Equatable {
  /// The token.
  package var refreshToken: BoundToken
  /// When it ends, where the provider says so.
  package var expiresAt: Timestamp?
  /// Why the access token beside it cannot be used.
  package var rejection: ProviderRejection

  /// A refresh token that came with what cannot be used.
  package init(refreshToken: Secret, expiresAt: Timestamp?, rejection: ProviderRejection) {
    self.refreshToken = BoundToken(refreshToken)
    self.expiresAt = expiresAt
    self.rejection = rejection
  }
}
