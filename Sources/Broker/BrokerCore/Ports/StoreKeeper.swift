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
