package import BrokerProtocol
package import SecretMemory

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

  /// Seals everything anew, all of it or nothing.
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

/// Where a store stands.
package struct StoreStatus: Sendable, Equatable {
  /// Whether its key is missing.
  package var isLocked: Bool
  /// Whether it has a key yet: a store that waits for its first passphrase has none.
  package var isInitialized: Bool
  /// Where its key comes from.
  package var keySource: KeySourceName
  /// The version of its tables.
  package var schemaVersion: Int
  /// Whether it would be noticed that the whole store was replaced by an older copy.
  package var noticesRollback: Bool
  /// The wrong passphrases that were given before this start.
  package var passphraseFailures: PassphraseFailures

  /// A status.
  package init(
    isLocked: Bool, isInitialized: Bool, keySource: KeySourceName, schemaVersion: Int, noticesRollback: Bool,
    passphraseFailures: PassphraseFailures = .none
  ) {
    self.isLocked = isLocked
    self.isInitialized = isInitialized
    self.keySource = keySource
    self.schemaVersion = schemaVersion
    self.noticesRollback = noticesRollback
    self.passphraseFailures = passphraseFailures
  }
}

/// Why a store was not opened, or not sealed anew.
package enum KeyFailure: Error, Sendable, Equatable {
  /// The passphrase opens nothing.
  case wrongPassphrase
  /// The key comes from a passphrase, and none was given.
  case passphraseMissing
  /// A new passphrase cannot be taken; one sentence says why.
  case passphraseUnsuitable(String)
  /// The source does not give the key; one sentence says why, and what to do.
  case sourceUnavailable(String)
  /// The store itself.
  case store(StoreFailure)
}
