import BrokerCore
package import SQLite

/// Why the vault cannot be opened or used; the description says what to do about it.
package enum VaultError: Error, Sendable, CustomStringConvertible {
  /// Another connection, here or in another process, has the database.
  case inUse
  /// The vault was sealed with another key.
  case wrongKey
  /// The file is no vault, or its access rights are not private, or the system refused to open it.
  case cannotOpen(SQLiteError)
  /// A newer version of the program has written it; nothing was changed.
  case newerSchema(found: Int32, supported: Int32)
  /// The file contradicts itself, or a sealed value of the vault itself is not what was written.
  case damaged(part: String)
  /// The database refused to read or write.
  case storage(SQLiteError)
  /// The locked memory for secrets is full.
  case secretMemoryExhausted
  /// The vault was closed.
  case closed

  /// One sentence, and what to do; no value of the vault.
  package var description: String {
    switch self {
    case .inUse: "The vault is in use by another process; stop that one first."
    case .wrongKey: "The vault was sealed with another key; put the right key file back."
    case .cannotOpen(let error): "The vault cannot be opened (\(error)); check its path and access rights."
    case .newerSchema(let found, let supported):
      "The vault has format \(found), this program knows up to \(supported); use the newer program."
    case .damaged(let part): "The vault is damaged (\(part)); restore it from a backup, or remove it and log in again."
    case .storage(let error): "The vault cannot be read or written (\(error)); check the disk."
    case .secretMemoryExhausted: "The locked memory for secrets is full; raise the limit of locked memory (ulimit -l)."
    case .closed: "The vault is closed."
    }
  }
}

extension StoreFailure {
  /// What the core is told.
  init(_ error: VaultError) {
    self =
      switch error {
      case .wrongKey: .locked
      case .damaged: .tampered(profile: nil)
      default: .failed(context: error.description)
      }
  }
}
