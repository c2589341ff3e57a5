package import BrokerProtocol
package import SecretMemory

/// The store of the sealed records of sessions: the broker's own store, or one that it shares with other brokers.
///
/// A call returns only after what it was asked is durable. In a shared store the record and the right to spend its refresh
/// token are one thing: an open intent is a lease, and no other broker opens one before that is over.
package protocol RecordStore: AnyObject, Sendable {
  /// How long an intent keeps other brokers from spending the refresh token; nil where the store is the broker's alone.
  var lease: Duration? { get }
  /// How often what other brokers have written is read; nil where the store is the broker's alone, or is read on demand.
  var pollInterval: Duration? { get }

  /// Reads everything that the broker needs to start, or what other brokers have written.
  ///
  /// It leaves out the intents of other brokers whose lease runs.
  ///
  /// - Throws: ``StoreFailure/locked`` while the key is not there.
  func load() async throws(StoreFailure) -> StoreContents

  /// Reads of some profiles what the broker has not taken up yet.
  ///
  /// It leaves out each record that still has the version known, and finds of all others what ``load()`` finds: of a known
  /// one that is not there any more, too.
  ///
  /// - Throws: as ``load()``.
  func load(_ known: [KnownRecord]) async throws(StoreFailure) -> StoreContents

  /// Has the broker told that there is something in ``takeNews()``, in place of the one that was told before.
  func watch(_ tell: @escaping @Sendable () -> Void)

  /// Takes out what was told of the writes of other brokers.
  func takeNews() -> RecordNews

  /// Whether the writes of other brokers are told now: then nothing that is awaited of them needs to be looked for more often.
  var isTold: Bool { get }

  /// Makes all steps durable in one transaction, or none of them.
  ///
  /// A record closes every intent; of intents that are shared a broker closes only its own.
  ///
  /// - Throws: ``StoreFailure/superseded`` where a record with the same or a newer generation is there, or, in a shared store,
  ///   another one than it follows: tokens may follow one to which the store has gone back, until another broker writes; for
  ///   an intent that is shared, where the record has another generation, or another broker's lease has run out, unless the
  ///   intent says that a reply may be lost, and knows of it where that broker has sent the token again;
  ///   ``StoreFailure/held(for:)`` while the lease of another broker runs.
  func commit(_ steps: [StoreStep]) async throws(StoreFailure)

  /// Forgets the keys of a shared store, as the vault is locked: they are got again where they are needed.
  func forgetSharedKeys()
}

/// The broker's own store: the records of sessions that it shares with none, and everything else.
package protocol SessionStore: RecordStore, AuditStore {
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

  /// Reads what is sent with a queued request, or what came; nil where that is not there.
  ///
  /// - Throws: ``StoreFailure/tampered(profile:)`` where it is not what was written.
  func contents(of request: QueuedRequest.ID) async throws(StoreFailure) -> QueuedContents?

  /// Makes sure that no sequence up to this one is ever given again, after whatever crash; needs no key.
  func reserveSequences(through sequence: UInt64) async throws(StoreFailure)
}

extension RecordStore {
  /// It is read on demand.
  package var pollInterval: Duration? { nil }

  /// It has none of its own.
  package func forgetSharedKeys() {}

  /// It has no versions, and reads everything.
  package func load(_ known: [KnownRecord]) async throws(StoreFailure) -> StoreContents { try await load() }

  /// No other broker writes, or none tells.
  package func watch(_ tell: @escaping @Sendable () -> Void) {}

  /// As above.
  package func takeNews() -> RecordNews { RecordNews() }

  /// As above.
  package var isTold: Bool { false }
}

extension SessionStore {
  /// No other broker has it.
  package var lease: Duration? { nil }
}

/// Holds the keys of a store: opens and closes it, and changes what it is sealed under.
package protocol StoreKeeper: Sendable {
  /// The present status of the store.
  var status: StoreStatus { get async }

  /// Gets the key and opens the sealed records; makes both where the store is new.
  ///
  /// A store that is open already stays so.
  func unlock(_ passphrase: Secret?) async throws(KeyFailure)

  /// Forgets the keys.
  func lock() async

  /// Re-encrypts everything, all of it or nothing.
  ///
  /// - Throws: ``KeyFailure``; everything opens as before then.
  func rekey(_ request: Rekey.Params) async throws(KeyFailure)

  /// Keeps the count of wrong passphrases beside the store, for the next start; if that fails, the count ends with this
  /// process.
  func keep(_ failures: PassphraseFailures) async

  /// Looks whether everything is as it was written.
  ///
  /// - Throws: ``StoreFailure/locked`` while the key is not there, ``StoreFailure/failed(context:)``.
  func check(isFull: Bool) async throws(StoreFailure) -> [VaultFinding]
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
  /// Keeps a queued request, in place of what was kept of it; its contents stay as they are where there are none here.
  case keepRequest(QueuedRequest, QueuedContents?)
  /// Forgets a queued request.
  case forgetRequest(QueuedRequest.ID)
  /// Keeps a session that a change of the configuration has signed out, in place of that of the same name.
  case park(ParkedSession)
  /// Forgets such a session: it has come back, or has ended for good.
  case unpark(ParkedSession.ID)
  /// Appends an event; what is kept is bounded by ``EventRetention``.
  case event(BrokerEvent)
  /// Notes that events up to this sequence may be missing.
  case eventsIncomplete(through: UInt64)

  /// The profile whose record, or whose refresh, it is about; nil for everything else.
  package var recordedProfile: ProfileName? {
    switch self {
    case .record(let record): record.profile
    case .openIntent(let intent): intent.profile
    case .closeIntent(let profile): profile
    default: nil
    }
  }
}
