package import BrokerProtocol

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
