/// When a method needs an open vault.
package enum VaultNeed: Sendable {
  /// Never.
  case never
  /// When it is called; it goes on although the vault is locked meanwhile.
  case atFirst
  /// Until it is answered: a vault that is locked by then is all that the answer tells.
  case throughout
}
