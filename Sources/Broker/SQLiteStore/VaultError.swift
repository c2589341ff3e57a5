package import BrokerCore
import BrokerProtocol
import Records
package import SQLite
import Sealing
import SecretMemory

/// Why the vault cannot be opened or used; the description says what to do about it.
package enum VaultError: Error, Sendable, CustomStringConvertible {
  /// Another connection, here or in another process, has the database.
  case inUse
  /// The file's access rights are not private, or the system refused to open it.
  case cannotOpen(SQLiteError)
  /// A newer version of the program has written it; nothing was changed.
  case newerSchema(found: Int32, supported: Int32)
  /// A name of the vault leads to something that is not a private regular file of this user.
  case notOurs(path: String)
  /// The file contradicts itself, or a sealed value of the vault itself is not what was written.
  case damaged(part: String)
  /// The database refused to read or write.
  case storage(SQLiteError)
  /// The locked memory for secrets is full.
  case secretMemoryExhausted
  /// The vault was closed.
  case closed
  /// The machine gives no thread for the vault's work, and the number of the error.
  case noThread(code: Int32)

  /// One sentence, and what to do; no value of the vault.
  package var description: String {
    switch self {
    case .inUse: "The vault is in use by another process; stop that one first."
    case .cannotOpen(let error): "The vault cannot be opened (\(error)); check its path and access rights."
    case .notOurs(let path):
      "\(path) is not a regular file of this user alone; remove it, or restore it from a backup."
    case .newerSchema(let found, let supported):
      "The vault has format \(found), and this version supports up to \(supported); install the newer version."
    case .damaged(let part):
      "The vault is damaged (\(part)); restore it from a backup, or move all its files (vault.sqlite*) away and log in "
        + "again."
    case .storage(let error): "The vault cannot be read or written (\(error)); check the disk."
    case .secretMemoryExhausted:
      "The locked memory for secrets is full; sign out of some profiles, or use several state directories."
    case .closed: "The vault is closed."
    case .noThread: "No thread can be started for the vault; raise the limit of processes."
    }
  }

  /// The error for a failure to read rows.
  init(whileReading error: any Error) {
    self =
      switch error {
      case let error as VaultError: error
      case let error as SQLiteError where error.code.primary == .corrupt: .damaged(part: "database")
      // All SQL is the program's own: it fails where a table or a column of it is missing.
      case let error as SQLiteError where error.code == .error: .damaged(part: "schema")
      case let error as SQLiteError: .storage(error)
      case SealingError.secretMemoryExhausted, is SecretMemoryExhausted: .secretMemoryExhausted
      default: .damaged(part: "database")
      }
  }

  /// The error for a failure to open the file at a path.
  init(opening error: SQLiteError, at path: String) {
    if case .companion(let suffix) = error.operation {
      self = .notOurs(path: path + suffix.description)
      return
    }
    if case .tables = error.operation {
      self = .damaged(part: "its tables are missing")
      return
    }
    self =
      switch error.code.primary {
      case .busy, .locked: .inUse
      case .corrupt: .damaged(part: "database")
      case .notADatabase: .damaged(part: "not a database of this program")
      case .full, .inputOutput: .storage(error)
      default: .cannotOpen(error)
      }
  }

  /// Whether the disk had no room for a change, which was undone.
  var isDiskFull: Bool {
    guard case .storage(let error) = self else { return false }
    return error.isDiskFull
  }
}

extension StoreFailure {
  /// The failure that the core is told.
  package init(_ error: VaultError) {
    self =
      switch error {
      case .damaged: .tampered(profile: nil)
      default: .failed(context: error.description)
      }
  }
}

extension KeyFailure {
  /// The failure that the core is told for a failure of the vault itself.
  init(_ error: VaultError) { self = .store(StoreFailure(error)) }

  /// The failure that the core is told where a source gives no key.
  init(_ error: KeySourceError) {
    self =
      switch error {
      case .passphraseMissing: .passphraseMissing
      case .passphraseLength: .passphraseUnsuitable(error.description)
      default: .sourceUnavailable(error.description)
      }
  }

  /// The failure that the core is told where a key does not open the vault.
  init(_ error: KeyRingError, source: KeySourceName) {
    switch error {
    case .unavailable(let reason): self.init(reason)
    case .damaged: self = .store(.tampered(profile: nil))
    case .wrongKey where source == .passphrase: self = .wrongPassphrase
    case .wrongKey:
      let remedy = source == .file ? "restore its key file" : "check the \(source.rawValue)"
      self = .sourceUnavailable(
        "The vault is encrypted with another key; its key source is \(source.rawValue): \(remedy).")
    }
  }
}
