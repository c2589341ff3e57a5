package import BrokerProtocol
package import Sealing

/// A key that wraps the data key, and what has to be stored so that it can be derived again.
package struct KeyEncryptionKey: Sendable {
  /// The key.
  package let key: SealingKey
  /// The source that it came from.
  package let source: KeySourceName
  /// The parameters of its derivation; nil for a key file, which holds the key itself.
  package let derivation: KeyDerivation.Parameters?

  /// A key and its origin.
  package init(key: SealingKey, source: KeySourceName, derivation: KeyDerivation.Parameters?) {
    self.key = key
    self.source = source
    self.derivation = derivation
  }
}
