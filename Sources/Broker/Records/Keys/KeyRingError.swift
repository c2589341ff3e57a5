/// Why a wrapped data key does not open; the description says what to do about it.
package enum KeyRingError: Error, Equatable, Sendable, CustomStringConvertible {
  /// It was wrapped under another key: another key file, passphrase or credential than the right one.
  case wrongKey
  /// It is not what was written, or not for this vault: damaged, moved or forged.
  case damaged
  /// There is no key to try.
  case unavailable(KeySourceError)

  /// One sentence, and what to do.
  package var description: String {
    switch self {
    case .wrongKey:
      "The vault is encrypted with another key than its key source gives."
    case .damaged: "The vault's key ring is damaged; restore the vault from a backup, or remove it and log in again."
    case .unavailable(let error): error.description
    }
  }
}
