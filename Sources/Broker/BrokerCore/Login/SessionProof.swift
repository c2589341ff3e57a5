import BrokerProtocol

/// Whether a session that a login has brought is that of the user who was expected.
package enum SessionProof: Sendable, Equatable {
  /// It is, or no certain user was expected.
  case given
  /// It is another user's, or the provider does not tell whose it is.
  case otherUser
  /// It would replace a living session that its connection may not replace by another user's.
  case replacesAnother
  /// The provider, asked whose it is, failed: that is no other user.
  case unknown(ProviderFailure)
}
