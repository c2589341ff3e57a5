package import BrokerProtocol
package import SecretMemory

/// The note that a refresh token is about to be spent: durable before the request is sent, so that a crash cannot hide
/// it.
package struct RefreshIntent: Sendable, Equatable {
  /// The profile.
  package var profile: ProfileName
  /// The generation of the record whose refresh token it is.
  package var generation: UInt64
  /// When it was about to be sent.
  package var startedAt: Timestamp
  /// Whether another broker has noted it, in a store that they share.
  package var isAnothers: Bool
  /// Whether the broker knows that another one has sent the token again whose reply was lost.
  package var knowsRepetition: Bool

  package init(
    profile: ProfileName, generation: UInt64, startedAt: Timestamp, isAnothers: Bool = false,
    knowsRepetition: Bool = false
  ) {
    self.profile = profile
    self.generation = generation
    self.startedAt = startedAt
    self.isAnothers = isAnothers
    self.knowsRepetition = knowsRepetition
  }

  /// Whether the broker knows that the token may have been spent already.
  package var followsLostReply: Bool { startedAt == LostReply.replayMark }
}

/// The usable part of an answer to a refresh: the next refresh token, which may be the only copy of the session.
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
