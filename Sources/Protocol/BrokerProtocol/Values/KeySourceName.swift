/// The source of the key that opens the vault.
public enum KeySourceName: String, Sendable, CaseIterable {
  /// A file of random bytes that only its owner can read.
  case file
  /// A passphrase that a person gives by `unlock`.
  case passphrase
  /// A credential that the service manager passes (systemd.exec(5), `LoadCredential=`).
  case credential
  /// The output of a program, such as a password manager.
  case command
}
