import BrokerCore
import BrokerProtocol
import Records
import Sealing
import SecretMemory

/// The state of an unlocked vault; dropped as a whole when it is locked.
struct OpenVault {
  /// The data key.
  var seal: VaultSeal
  /// The key that authenticates the anchor.
  let anchorHash: KeyedHash
  /// Makes the links of the audit.
  let auditChain: AuditChain
  /// The list of the rows.
  var manifest: Manifest
  /// The head of the vault.
  var head: VaultHead
  /// The suspicions about the vault as a whole.
  var suspicions: Set<VaultSuspicion>
  /// Profiles of which some row was not what was written.
  var tampered: Set<ProfileName> = []
  /// The queued requests that are missing, or are not what was written, with the tags that they should have: the next change
  /// removes them.
  var spoilt: [Manifest.Row: RowTag] = [:]
  /// How many sealed bytes the kept events have.
  var eventBytes = 0
  /// The rows that have ended although the database still has them, with their tags.
  var ended: [Manifest.Row: RowTag] = [:]
  /// The changes that were acknowledged with their end and wait for room on the disk, in order.
  var deferred: [StoreStep] = []
  /// Whether the audit was found to be another one than the head says.
  var isAuditSuspect = false
  /// Whether the kept events are to be removed with the next change.
  var mustDropEvents = false

  /// Whether all of it may be an older copy of what was written last.
  var mayBeOlder: Bool { !suspicions.isDisjoint(with: [.rolledBack, .anchorForeign, .head, .manifest]) }

  /// Derives the key for the embedded provider's keys from the key of the token names.
  ///
  /// - Throws: `VaultError.secretMemoryExhausted`.
  static func providerKey(from fingerprintKey: Secret) throws(VaultError) -> SealingKey {
    let label = Array("AuthBroker embedded provider 1".utf8)
    do throws(SealingError) {
      return try SealingKey(KeyedHash(key: fingerprintKey).secretDigest(of: label.span))
    } catch { throw .secretMemoryExhausted }
  }

  /// The chain of the audit, by the key of the token names.
  ///
  /// - Throws: `VaultError.secretMemoryExhausted`.
  static func auditChain(from fingerprintKey: Secret) throws(VaultError) -> AuditChain {
    do throws(SealingError) { return try AuditChain(from: fingerprintKey) } catch { throw .secretMemoryExhausted }
  }

  /// Derives the key of the anchor from the key of the token names.
  ///
  /// - Throws: `VaultError.secretMemoryExhausted`.
  static func anchorHash(from fingerprintKey: Secret) throws(VaultError) -> KeyedHash {
    let label = Array("AuthBroker vault anchor 1".utf8)
    do throws(SealingError) {
      return try KeyedHash(key: KeyedHash(key: fingerprintKey).secretDigest(of: label.span))
    } catch { throw .secretMemoryExhausted }
  }
}
