import BrokerProtocol

extension BrokerError {
  /// The error that a client sees when the vault was not opened, or not sealed anew.
  ///
  /// A missing passphrase is a parameter that does not fit, at `/passphrase`, with the advice to unlock: whoever can ask
  /// a person then knows what to ask for. `newPassphrase` is the parameter that an unsuitable passphrase came in.
  init(_ failure: KeyFailure, newPassphrase: String) {
    switch failure {
    case .wrongPassphrase: self.init(.wrongPassphrase)
    case .passphraseMissing:
      self.init(.invalidParams, "The vault opens with a passphrase: give it as /passphrase.")
      pointer = "/passphrase"
      nextAction = .unlock
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
    case .failed, .superseded: self.init(.storeFailed)
    case .tampered(let profile): self.init(.vaultTampered, profile: profile)
    case .locked: self.init(.vaultLocked)
    }
  }
}
