package import BrokerProtocol
package import SecretMemory

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

/// Holds the keys of a store: opens and closes it, and changes what it is sealed under.
package protocol StoreKeeper: Sendable {
  /// Where the store stands.
  var status: StoreStatus { get async }

  /// Gets the key and opens what is sealed under it; makes both where the store is new.
  ///
  /// A store that is open already stays so.
  ///
  /// - Throws: ``KeyFailure``; the store is still locked then.
  func unlock(_ passphrase: Secret?) async throws(KeyFailure)

  /// Forgets the keys.
  func lock() async

  /// Re-encrypts everything, all of it or nothing.
  ///
  /// - Throws: ``KeyFailure``; everything opens as before then.
  func rekey(_ request: Rekey.Params) async throws(KeyFailure)

  /// Keeps the wrong passphrases so far beside the store, for the next start; what cannot be written is lost with this one.
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
  /// Keeps a session that a change of the configuration has signed out, in place of that of the same name.
  case park(ParkedSession)
  /// Forgets such a session: it has come back, or has ended for good.
  case unpark(ParkedSession.ID)
  /// Appends an event; what is kept is bounded by ``EventRetention``.
  case event(BrokerEvent)
  /// Notes that events up to this sequence may be missing.
  case eventsIncomplete(through: UInt64)
}
