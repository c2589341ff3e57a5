/// Why a store was not opened, or not re-encrypted.
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
