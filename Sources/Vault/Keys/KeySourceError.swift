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
  /// Nobody has given the passphrase.
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
      "The vault's key file \(path) is missing; put it back from a backup, or remove the vault and log in again."
    case .notAFile(let path):
      "The vault's key file \(path) is a symbolic link or no regular file; put the key itself there."
    case .foreignOwner(let path, let owner):
      "The vault's key file \(path) belongs to user \(owner); make it your own, or choose another."
    case .openToOthers(let path, let permissions):
      "The vault's key file \(path) is open to others (mode \(String(permissions, radix: 8))); run: chmod 600 \(ShellWord.quoted(path))"
    case .wrongLength(let path):
      "The vault's key file \(path) does not have \(KeyFile.byteCount) bytes; put it back from a backup."
    case .shared(let path, let vault):
      "The key file \(path) is that of the vault \(vault) too, which would not open any more; copy it to a place of this "
        + "vault's own, name that with vault.keyFile in the configuration, start the broker again, and rekey then. Where "
        + "that vault has another key by now, or is gone for good, remove its line from \(path).vaults."
    case .usersUnknown(let path):
      "The list of the vaults that open by this key file, \(path), is no readable file of this user, so the key file is "
        + "not changed; correct its owner and mode, or remove it where no other vault opens by the key."
    case .directory(let refusal): "The vault's key file cannot be trusted: \(refusal.description)"
    case .failed(let path, let error): "The vault's key file \(path) cannot be used: \(error)."
    case .passphraseMissing: "The vault is locked; unlock it with its passphrase."
    case .passphraseLength:
      "A new passphrase has \(KeyEncryption.passphraseByteCounts.lowerBound) to "
        + "\(KeyEncryption.passphraseByteCounts.upperBound) bytes; choose another."
    case .credential(let refusal): refusal.description
    case .command(let failure): failure.description
    case .notEnoughMemory(let kiB):
      "The vault's key needs \(kiB / 1024) MiB of memory for a moment, and that is not there; end other programs."
    case .secretMemoryExhausted: "The locked memory for secrets is full; raise the limit of locked memory (ulimit -l)."
    }
  }
}
