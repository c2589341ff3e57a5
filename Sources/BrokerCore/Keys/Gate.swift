import BrokerProtocol
import SecretMemory

/// Whether clients may have what the vault holds.
enum Gate: Sendable, Equatable {
  /// They may. Left by a `lock`.
  case unlocked
  /// They may not, and what was under way before is being finished and saved. Left when nothing is left to save.
  case locking
  /// They may not, and the keys are gone. Left by an `unlock`.
  case locked
  /// They may not yet: the key is being tried. Left when it opens the vault, or does not.
  case unlocking
}

/// One request that needs the vault's key anew.
enum KeyAttempt: Sendable {
  /// Open the vault.
  case unlock(Secret?, Broker.Reply<Empty>)
  /// Seal the vault anew.
  case rekey(Rekey.Params, Broker.Reply<Empty>)

  /// Who waits for the answer.
  var reply: Broker.Reply<Empty> {
    switch self {
    case .unlock(_, let reply), .rekey(_, let reply): reply
    }
  }

  /// The parameter that a new passphrase came in.
  var newPassphrase: String {
    switch self {
    case .unlock: "/passphrase"
    case .rekey: "/newPassphrase"
    }
  }

  /// The parameter of a passphrase that is missing: the present one's where the key comes from one, else the new one's.
  func missingPassphrase(_ present: KeySourceName) -> String {
    present == .passphrase ? "/passphrase" : newPassphrase
  }
}
