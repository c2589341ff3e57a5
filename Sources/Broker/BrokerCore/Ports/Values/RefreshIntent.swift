package import BrokerProtocol

/// That a refresh token is about to be spent: durable before the request is sent, so that a crash cannot hide it.
package struct RefreshIntent: Sendable, Equatable {
  /// The profile.
  package var profile: ProfileName
  /// The generation of the record whose refresh token it is.
  package var generation: UInt64
  /// When it was about to be sent.
  package var startedAt: Timestamp

  package init(profile: ProfileName, generation: UInt64, startedAt: Timestamp) {
    self.profile = profile
    self.generation = generation
    self.startedAt = startedAt
  }
}
