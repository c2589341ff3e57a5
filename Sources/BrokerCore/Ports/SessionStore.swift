package import BrokerProtocol

/// Where sessions rest, sealed.
///
/// A call returns only after what it was asked is durable.
package protocol SessionStore: Sendable {
  /// Reads everything that the broker needs to start.
  ///
  /// - Throws: ``StoreFailure/locked`` while the key is not there.
  func load() async throws(StoreFailure) -> StoreContents

  /// Makes all steps durable in one transaction, or none of them.
  ///
  /// - Throws: ``StoreFailure/superseded`` where a record with the same or a newer generation is there.
  func commit(_ steps: [StoreStep]) async throws(StoreFailure)

  /// Reads a page of the kept events after one sequence, up to and with another, and how far back none is missing.
  ///
  /// - Parameters:
  ///   - sequence: where the page begins.
  ///   - last: the last sequence that is wanted.
  ///   - limit: how many events the page may have; it has fewer where they are large.
  /// - Returns: the page.
  /// - Throws: ``StoreFailure/tampered(profile:)`` without a profile where one is not what was written.
  func events(
    after sequence: UInt64, through last: UInt64, limit: Int
  ) async throws(StoreFailure) -> StoredEvents

  /// Makes sure that no sequence up to this one is ever given again, after whatever crash; needs no key.
  func reserveSequences(through sequence: UInt64) async throws(StoreFailure)
}

/// One part of a change of the store.
package enum StoreStep: Sendable, Equatable {
  /// Writes a profile's record and closes its refresh intent, unless a record with the same or a newer generation is
  /// there.
  case record(SessionRecord)
  /// Notes that a refresh token is about to be spent.
  case openIntent(RefreshIntent)
  /// Notes that the refresh token was certainly not spent.
  case closeIntent(ProfileName)
  /// Keeps a login that waits for its code or its user, in place of the profile's earlier one.
  case openLogin(PendingLoginRecord)
  /// Forgets the login of a profile that waits for its code or its user.
  case closeLogin(ProfileName)
  /// Keeps tokens that are still to be revoked, in place of those that were kept under the same name.
  case openRevocation(PendingRevocation)
  /// Forgets tokens that were revoked, or are not worth another try.
  case closeRevocation(PendingRevocation.ID)
  /// Appends an event; what is kept is bounded by ``EventRetention``.
  case event(BrokerEvent)
  /// Notes that events up to this sequence may be missing.
  case eventsIncomplete(through: UInt64)
}

/// How many events are kept, how many bytes of them, and for how long: whichever ends first.
package enum EventRetention {
  /// The contract's number: days of a busy broker, in a few megabytes.
  package static let count = 10_000
  /// Of so many lasting events (see `EventName.isLasting`), and of so many others, none goes while there are more of the
  /// other kind: a flood of refreshes or failed logins pushes no login or alert out, and the other way round.
  package static let share = 2_000
  /// How many sealed bytes are kept: three times what ten thousand usual events have, and bearable on a small disk where
  /// all are as long as they may be.
  package static let byteCount = 8 << 20
  /// The contract's time: a laptop that was away for a holiday still catches up.
  package static let age = Duration.seconds(30 * 86_400)
}

/// That a refresh token is about to be spent: durable before the request is sent, so that a crash cannot hide it.
package struct RefreshIntent: Sendable, Equatable {
  /// The profile.
  package var profile: ProfileName
  /// The generation of the record whose refresh token it is.
  package var generation: UInt64
  /// When it was about to be sent.
  package var startedAt: Timestamp

  /// An intent.
  package init(profile: ProfileName, generation: UInt64, startedAt: Timestamp) {
    self.profile = profile
    self.generation = generation
    self.startedAt = startedAt
  }
}

/// A login that waits for its code or its user, as it rests.
package struct PendingLoginRecord: Sendable, Equatable {
  /// What the login is bound to: nothing of it is sent to another place.
  package var binding: ProviderBinding
  /// The login.
  package var login: PendingLogin

  /// A login with what it is bound to.
  package init(binding: ProviderBinding, login: PendingLogin) {
    self.binding = binding
    self.login = login
  }
}

/// Why the store could not do its work.
package enum StoreFailure: Error, Sendable, Equatable {
  /// The file system refused; `context` names the operation, never a value.
  case failed(context: String)
  /// What is there is not what was written.
  case tampered(profile: ProfileName?)
  /// A record with the same or a newer generation is there: the write came too late.
  case superseded
  /// The key is not there.
  case locked
}

/// Everything that rests in the store when the broker starts.
package struct StoreContents: Sendable {
  /// One record for each profile that ever had a session.
  package var records: [SessionRecord]
  /// Profiles whose record cannot be trusted.
  package var tampered: [ProfileName] = []
  /// Whether something else than a profile's record cannot be trusted: the store as a whole, its events, its age.
  package var isSuspect = false
  /// Refreshes of which it is not known whether they were sent.
  package var intents: [RefreshIntent] = []
  /// Logins that wait for their code or their user.
  package var pendingLogins: [PendingLoginRecord] = []
  /// Tokens that are still to be revoked, also those of profiles that are not configured now.
  package var revocations: [PendingRevocation] = []
  /// The sequence after which every kept event can be replayed.
  package var eventsCompleteAfter: UInt64 = 0
  /// The same for lasting events alone; nil where those are no more complete.
  package var lastingEventsCompleteAfter: UInt64?
  /// The last sequence that may have been given.
  package var lastSequence: UInt64

  /// The contents.
  package init(records: [SessionRecord], lastSequence: UInt64) {
    self.records = records
    self.lastSequence = lastSequence
  }
}

extension StoreContents {
  /// From where on events can be replayed.
  package var eventCompleteness: EventCompleteness {
    EventCompleteness(all: eventsCompleteAfter, lasting: lastingEventsCompleteAfter)
  }
}

extension SessionStore {
  /// Writes one record, as ``commit(_:)`` does.
  ///
  /// - Throws: as there.
  package func save(_ record: SessionRecord) async throws(StoreFailure) {
    try await commit([.record(record)])
  }

  /// Reads all kept events of a range, however many: for tests and examinations.
  ///
  /// - Throws: as ``events(after:through:limit:)``.
  package func events(after sequence: UInt64, through last: UInt64) async throws(StoreFailure) -> StoredEvents {
    var all = try await events(after: sequence, through: last, limit: EventRetention.count)
    while all.through < last {
      let next = try await events(after: all.through, through: last, limit: EventRetention.count)
      all.events += next.events
      (all.through, all.completeness) = (next.through, next.completeness)
    }
    return all
  }
}
