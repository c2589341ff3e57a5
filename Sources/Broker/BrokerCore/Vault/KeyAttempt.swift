import BrokerProtocol
import SecretMemory

/// One request that needs the vault's key again.
struct KeyAttempt: Sendable {
  /// What is to be done with the key.
  enum Wish: Sendable {
    /// Open the vault.
    case unlock(Secret?)
    /// Re-encrypt the vault.
    case rekey(Rekey.Params)
  }

  /// Who waits for the answer.
  let caller: CallerID
  /// Where it came from; nil for the broker itself.
  let principal: Principal
  /// What it is.
  let wish: Wish

  /// Whether the vault is to be opened.
  var isUnlock: Bool {
    if case .unlock = wish { true } else { false }
  }

  /// The parameter that a new passphrase came in.
  var newPassphrase: String { isUnlock ? "/passphrase" : "/newPassphrase" }

  /// The parameter of a passphrase that is missing: the present one's where the key comes from one, else the new one's.
  func missingPassphrase(_ present: KeySourceName) -> String {
    present == .passphrase ? "/passphrase" : newPassphrase
  }
}
