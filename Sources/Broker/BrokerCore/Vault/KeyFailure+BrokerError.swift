import BrokerProtocol

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

extension BrokerError {
  /// The error that a client sees when the vault was not opened, or not re-encrypted.
  ///
  /// A missing passphrase is an invalid parameter: a client that can ask a person then knows what to ask for. The
  /// advice is to unlock where it is the present one. `missing` is the parameter that it should have come in, and
  /// `newPassphrase` the one that an unsuitable passphrase came in.
  init(_ failure: KeyFailure, missing: String, newPassphrase: String) {
    switch failure {
    case .wrongPassphrase: self.init(.wrongPassphrase)
    case .passphraseMissing:
      let isNew = missing != "/passphrase"
      self.init(.invalidParams, "The vault \(isNew ? "is to open" : "opens") with a passphrase; pass it as \(missing).")
      pointer = missing
      if !isNew { nextAction = .unlock }
    case .passphraseUnsuitable(let why):
      self.init(.invalidParams, why)
      pointer = newPassphrase
    case .sourceUnavailable(let why): self.init(.keySourceUnavailable, why)
    case .store(let failure): self.init(failure)
    }
  }

  /// The error that a client sees when the store itself did not do its work.
  init(_ failure: StoreFailure) {
    switch failure {
    case .failed, .superseded, .held: self.init(.storeFailed)
    case .tampered(let profile): self.init(.vaultTampered, profile: profile)
    case .locked: self.init(.vaultLocked)
    }
  }
}
