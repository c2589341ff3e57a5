package import BrokerProtocol

/// A record of a shared store, as far as the broker has taken it up.
package struct KnownRecord: Sendable, Equatable {
  /// The profile.
  package let profile: ProfileName
  /// The version that was taken up; nil where the record is to be read whatever version it has.
  package let version: Int64?

  /// A record.
  package init(_ profile: ProfileName, version: Int64? = nil) {
    (self.profile, self.version) = (profile, version)
  }
}

/// Writes of other brokers, as far as they were told.
///
/// They are hints: some may be missing, and others may be known already.
package struct RecordNews: Sendable, Equatable {
  /// The profiles whose records were written.
  package var profiles: Set<ProfileName> = []
  /// Whether any record may have been written: not everything was told, as before telling began.
  package var mayBeOfAll = false

  /// Whether nothing was told.
  package var isEmpty: Bool { profiles.isEmpty && !mayBeOfAll }

  /// No news.
  package init() {}
}
