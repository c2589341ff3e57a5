/// A moment between two durable steps of a change of keys: whatever happens then, the vault opens afterwards, with the
/// old key or the new one.
package enum VaultStep: Sendable, CaseIterable {
  /// The new key can be read again; the database knows nothing of it.
  case keyReady
  /// Everything is re-encrypted, in a transaction that is not durable yet.
  case resealed
  /// The database needs the new key from now on.
  case committed
  /// The new key file is in its place, or the old one is gone.
  case settled
  /// A vault of an older schema was copied, and nothing else was done yet.
  case backedUp
}
