import Records
import Sealing
import Synchronization

/// The key of the embedded provider, for a provider that is made while the vault is still being opened.
final class VaultKey: Sendable {
  private let source = Mutex<ProviderKey?>(nil)

  /// The key; nil before the vault is known, and while it is locked.
  var key: SealingKey? { source.withLock { $0 }?.key }

  /// Takes the key from a vault from now on.
  func use(_ source: ProviderKey) { self.source.withLock { $0 = source } }
}
