package import LinuxSystem

/// Why there is no key for the vault; the description says what to do about it.
///
/// None of them carries anything that a source gave: no byte of a secret, no output and no argument of a program.
package enum KeySourceError: Error, Equatable, Sendable, CustomStringConvertible {
  /// Nothing says where the key file would be.
  case noPlaceForKeyFile
  /// There is a vault, but not the key that it was sealed with.
  case missing(path: String)
  /// It is a symbolic link, a directory, a pipe: anything but a file.
  case notAFile(path: String)
  /// It belongs to another user.
  case foreignOwner(path: String, owner: UInt32)
  /// Others have rights on it.
  case openToOthers(path: String, permissions: UInt32)
  /// It has another length than a key has.
  case wrongLength(path: String)
  /// Another vault opens by the same key file, and would not any more.
  case shared(path: String, vault: String)
  /// The list of the vaults that open by the key file is there and cannot be read.
  case usersUnknown(path: String)
  /// The directory that it is in is not private.
  case directory(PrivateDirectory.Refusal)
  /// The system refused.
  case failed(path: String, Errno)
  /// The passphrase was not given.
  case passphraseMissing
  /// A new passphrase is too short or too long.
  case passphraseLength
  /// The credential that the service manager should give.
  case credential(CredentialFile.Refusal)
  /// The program that should print the secret.
  case command(KeyCommand.Failure)
  /// The key derivation did not get its memory.
  case notEnoughMemory(kiB: Int)
  /// The locked memory for secrets is full.
  case secretMemoryExhausted

  /// One sentence, and what to do.
  package var description: String {
    switch self {
    case .noPlaceForKeyFile:
      "HOME is not set, so there is no place for the vault's key file; name a state directory with --state, "
        + "or the file with vault.keyFile in the configuration."
    case .missing(let path):
      "The vault's key file \(path) is missing; restore it from a backup, or remove the vault and log in again."
    case .notAFile(let path):
      "The vault's key file \(path) is not a regular file; put the key itself there, not a link."
    case .foreignOwner(let path, let owner):
      "The vault's key file \(path) belongs to user \(owner); make it your own, or choose another."
    case .openToOthers(let path, let permissions):
      "The vault's key file \(path) is open to others (mode \(String(permissions, radix: 8))); run: chmod 600 \(ShellWord.quoted(path))"
    case .wrongLength(let path):
      "The vault's key file \(path) does not have \(KeyFile.byteCount) bytes; restore it from a backup."
    case .shared(let path, let vault):
      "The key file \(path) is also that of the vault \(vault), which could not be opened any more; copy it to a place of this "
        + "vault's own, set vault.keyFile in the configuration to that place, restart the broker, and rekey again. If "
        + "that vault has another key now, or no longer exists, remove its line from \(path).vaults."
    case .usersUnknown(let path):
      "The list of the vaults that use this key file, \(path), cannot be read as a file of this user, so the key file is "
        + "not changed; correct its owner and mode, or remove it if no other vault uses the key."
    case .directory(let refusal): "The vault's key file cannot be trusted: \(refusal.description)"
    case .failed(let path, let error): "The vault's key file \(path) cannot be used: \(error)."
    case .passphraseMissing: "The vault is locked; unlock it with its passphrase."
    case .passphraseLength:
      "A new passphrase must have \(KeyEncryption.passphraseByteCounts.lowerBound) to "
        + "\(KeyEncryption.passphraseByteCounts.upperBound) bytes; choose a different one."
    case .credential(let refusal): refusal.description
    case .command(let failure): failure.description
    case .notEnoughMemory(let kiB):
      "Deriving the vault's key needs \(kiB / 1024) MiB of memory for a moment, which is not available; close other programs."
    case .secretMemoryExhausted: "The locked memory for secrets is full; raise the limit of locked memory (ulimit -l)."
    }
  }
}
