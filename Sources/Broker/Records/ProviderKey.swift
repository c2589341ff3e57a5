package import Sealing
import SecretMemory
import Synchronization

/// The key with which the embedded provider seals its own keys: derived from the vault's, so there while the vault is
/// open.
///
/// It stays the same for the life of the vault, however the vault is re-encrypted.
package final class ProviderKey: Sendable {
  private let held = Mutex<SealingKey?>(nil)

  /// No key before the vault is open.
  package init() {}

  /// The key; nil while the vault is locked.
  package var key: SealingKey? { held.withLock { $0 } }

  /// Takes the key of an open vault, or forgets it with nil.
  package func use(_ key: SealingKey?) { held.withLock { $0 = key } }
}
