package import BrokerProtocol

/// Everything that rests in the store when the broker starts.
package struct StoreContents: Sendable {
  /// One record for each profile that ever had a session.
  package var records: [SessionRecord]
  /// Profiles whose record cannot be trusted.
  package var tampered: [ProfileName] = []
  /// Whether something other than a profile's record cannot be trusted: the store as a whole, its events, its age.
  package var isSuspect = false
  /// Whether all of it may be an older copy: the refresh tokens may have been spent since.
  package var mayBeOlder = false
  /// Profiles whose record was newer when this broker last looked, each with the newest generation that there was: the shared
  /// store has gone back to an earlier state, as after a failover, so that its refresh token may have been spent since.
  package var rolledBack: [ProfileName: UInt64] = [:]
  /// The versions of records of a shared store that are the same at the next reading as long as they have this version: once
  /// they are taken up, they need not be read again.
  ///
  /// One with a flight is none: what it means changes with the time. Neither is one that cannot be trusted.
  package var versions: [ProfileName: Int64] = [:]
  /// Refreshes of which it is not known whether they were sent.
  package var intents: [RefreshIntent] = []
  /// Logins that wait for their code or their user.
  package var pendingLogins: [PendingLoginRecord] = []
  /// Tokens that are still to be revoked, also those of profiles that are not configured now.
  package var revocations: [PendingRevocation] = []
  /// The requests that clients have queued, also those of profiles that are not configured now.
  package var requests: [QueuedRequest] = []
  /// Sessions that changes of the configuration have signed out.
  package var parked: [ParkedSession] = []
  /// From where on events can be replayed.
  package var completeness = EventCompleteness()
  /// The last sequence that may have been given.
  package var lastSequence: UInt64

  package init(records: [SessionRecord], lastSequence: UInt64) {
    self.records = records
    self.lastSequence = lastSequence
  }
}

/// The status of a store.
package struct StoreStatus: Sendable, Equatable {
  /// Whether its key is missing.
  package var isLocked: Bool
  /// Whether it has a key yet: a store that waits for its first passphrase has none.
  package var isInitialized: Bool
  /// The source of its key.
  package var keySource: KeySourceName
  /// The version of its tables.
  package var schemaVersion: Int
  /// Whether a replacement of the whole store by an older copy would be noticed.
  package var noticesRollback: Bool
  /// Whether it was found to be, or perhaps to be, an older copy of itself when it was opened.
  package var mayBeOlder: Bool
  /// The wrong passphrases that were given before this start.
  package var passphraseFailures: PassphraseFailures

  package init(
    isLocked: Bool, isInitialized: Bool, keySource: KeySourceName, schemaVersion: Int, noticesRollback: Bool,
    mayBeOlder: Bool = false, passphraseFailures: PassphraseFailures = .none
  ) {
    self.isLocked = isLocked
    self.isInitialized = isInitialized
    self.keySource = keySource
    self.schemaVersion = schemaVersion
    self.noticesRollback = noticesRollback
    self.mayBeOlder = mayBeOlder
    self.passphraseFailures = passphraseFailures
  }
}

/// Kept events, as they were read in one instant: a page of them at most.
package struct StoredEvents: Sendable, Equatable {
  /// The events, in order.
  package var events: [BrokerEvent]
  /// The sequence up to which the page goes: further ones are in the next page.
  package var through: UInt64
  /// From where on every kept event was there then: older ones may have gone.
  package var completeness: EventCompleteness

  package init(events: [BrokerEvent], through: UInt64, completeness: EventCompleteness) {
    self.events = events
    self.through = through
    self.completeness = completeness
  }
}

/// The sequences after which every event can be replayed.
package struct EventCompleteness: Sendable, Equatable {
  /// For a subscription to events of all kinds.
  package var all: UInt64
  /// For a subscription to lasting ones only, which are kept apart: see `EventName.isLasting`.
  package var lasting: UInt64

  /// The sequences; the lasting events are never less complete than all of them.
  package init(all: UInt64 = 0, lasting: UInt64? = nil) {
    self.all = all
    self.lasting = min(lasting ?? all, all)
  }

  /// Notes that events up to this one may be missing.
  package mutating func lose(through sequence: UInt64, lasting isLasting: Bool) {
    all = max(all, sequence)
    if isLasting { lasting = max(lasting, sequence) }
  }

  /// The gaps of both.
  package func joined(with other: EventCompleteness) -> EventCompleteness {
    EventCompleteness(all: max(all, other.all), lasting: max(lasting, other.lasting))
  }
}

/// The retention of events: their number, bytes and age, whichever ends first.
package enum EventRetention {
  /// The contract's number: days of a busy broker, in a few megabytes.
  package static let count = 10_000
  /// The number of events of each kind, lasting (see `EventName.isLasting`) and others, that the other kind cannot push
  /// out: a flood of refreshes or failed logins leaves logins and alerts, and the other way round.
  package static let share = 2_000
  /// How many sealed bytes are kept: three times what ten thousand usual events have, and bearable on a small disk where
  /// all are as long as they may be.
  package static let byteCount = 8 << 20
  /// The longest age, by the contract: a laptop that was away for a holiday still catches up.
  package static let age = Duration.seconds(30 * 86_400)
}

/// Why the store could not do its work.
package enum StoreFailure: Error, Sendable, Equatable {
  /// The file system refused; `context` names the operation, never a value.
  case failed(context: String)
  /// A record is not the one that was written.
  case tampered(profile: ProfileName?)
  /// A record with the same or a newer generation is there: the write came too late. What another broker has written is to
  /// be read.
  case superseded
  /// Another broker may be spending the refresh token, for so long at most.
  case held(for: Duration)
  /// The key is not there.
  case locked
}
