package import BrokerProtocol

/// A session that a change of the configuration has signed out: sealed and unusable, until the configuration is as before.
package struct ParkedSession: Sendable, Equatable {
  /// Names one: a profile has at most one for each provider and client.
  package struct ID: Hashable, Sendable {
    /// The profile.
    package let profile: ProfileName
    /// The binding of the session.
    package let binding: ProviderBinding

    package init(_ profile: ProfileName, _ binding: ProviderBinding) {
      self.profile = profile
      self.binding = binding
    }
  }

  /// How long one is kept: a mistaken change of the configuration is noticed by then.
  package static let lifetime = Duration.seconds(30 * 86400)

  /// The session as it was; signed out where its record is still stored under the name of its profile, which is no
  /// longer configured.
  package var record: SessionRecord
  /// When it was signed out.
  package var since: Timestamp
  /// Whether its refresh token may have been spent since: a refresh was under way, or its outcome unknown.
  package var mayBeSpent: Bool

  package init(_ record: SessionRecord, since: Timestamp, mayBeSpent: Bool = false) {
    self.record = record
    self.since = since
    self.mayBeSpent = mayBeSpent
  }

  /// The same one with its secrets outside of the arena.
  consuming func resting() -> ParkedSession {
    if case .living(let session) = record.contents { record.contents = .living(session.resting()) }
    return self
  }

  /// Its name.
  package var id: ID { ID(record.profile, record.binding) }

  /// When it ends for good.
  package var end: Timestamp { since + Self.lifetime }

  /// The session; nil where it rests under its profile's own name.
  package var session: LivingSession? {
    guard case .living(let session) = record.contents else { return nil }
    return session
  }
}
