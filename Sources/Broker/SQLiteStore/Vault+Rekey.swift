package import BrokerCore
package import BrokerProtocol
import Records
import SQLite
import Sealing
import SecretMemory

extension Vault {
  /// Re-encrypts the vault under a new data key, which is wrapped by the key of the same source or another one.
  ///
  /// A process that ends in between leaves a vault that opens with the old secret or the new one.
  package func rekey(_ request: Rekey.Params) async throws(KeyFailure) {
    guard contents != nil, let old = ring else { throw .store(.locked) }
    try checkPassphrase(request.passphrase, old)
    let source = request.keySource ?? configuredSource
    guard request.newPassphrase == nil || source == .passphrase else {
      throw .passphraseUnsuitable("The new key comes from the source \(source.rawValue), which uses no passphrase.")
    }
    var passphrase = request.newPassphrase
    if passphrase == nil, old.wrapped.source == .passphrase { passphrase = request.passphrase }
    guard source != .passphrase || passphrase != nil else {
      throw .passphraseUnsuitable("The new key comes from a passphrase; pass it as /newPassphrase.")
    }
    do { try endDoubt() } catch { throw .store(error) }
    let kek: KeyEncryptionKey
    do throws(KeySourceError) {
      if source == .file, let path = encryption.settings.keyFilePath, let vault = try keyFileUsers?.other() {
        throw .shared(path: path, vault: vault)
      }
      kek = try encryption.newKey(from: source, passphrase: passphrase, replacing: old.wrapped)
    } catch { throw KeyFailure(error) }
    reached(.keyReady)
    do throws(StoreFailure) {
      try reseal(kek, old)
    } catch {
      // A commit that failed may be in the log all the same, and come back at the next start: until a later change is
      // in its place, a new key file stays beside the old one, and the one that fits is taken then.
      isRekeyInDoubt = true
      if (try? endDoubt()) != nil { try? encryption.discard(kek) }
      throw .store(error)
    }
    reached(.committed)
    settle(kek.source)
    reached(.settled)
    // What was sealed under the old key is in the log's earlier frames.
    if let connection = try? database() { try? connection.checkpoint() }
  }

  /// Lets no change of keys that failed come back: a later change takes its place in the log.
  ///
  /// - Throws: `StoreFailure`; it may come back as before then.
  func endDoubt() throws(StoreFailure) {
    // What has ended is known by the tag of its present box.
    try bury()
    guard isRekeyInDoubt else { return }
    try change { _ in }
    isRekeyInDoubt = false
  }

  /// Checks the passphrase of a vault that has one, before its keys are changed.
  private func checkPassphrase(_ passphrase: Secret?, _ ring: KeyringTable.Ring) throws(KeyFailure) {
    guard ring.wrapped.source == .passphrase else { return }
    do throws(KeyRingError) {
      _ = try encryption.unwrap(ring.wrapped, vaultID: ring.vaultID, passphrase: passphrase)
    } catch { throw KeyFailure(error, source: .passphrase) }
  }

  private func reseal(_ kek: KeyEncryptionKey, _ old: KeyringTable.Ring) throws(StoreFailure) {
    let (connection, open) = try opened()
    let key: SealingKey
    do { key = try SealingKey.random() } catch { throw StoreFailure(.secretMemoryExhausted) }
    var fresh = KeyringTable.Ring(
      vaultID: old.vaultID, wrapped: WrappedKey.wrap(key, with: kek, vaultID: old.vaultID),
      // One that an earlier change of the source has left is still to be removed.
      retiredKeyFile: kek.source == .file ? nil : old.retiredKeyFile)
    if old.wrapped.source == .file, kek.source != .file, !(keyFileUsers?.mayHaveOther ?? false) {
      fresh.retiredKeyFile = encryption.settings.keyFilePath
    }
    let seal = VaultSeal(key: key, vaultID: old.vaultID)
    // The change seals what it writes itself under the new key.
    contents?.seal = seal
    do throws(StoreFailure) {
      try change { change in
        try Self.resealRows(of: &change, from: open.seal)
        try KeyringTable(connection: connection).write(fresh, at: change.time)
        reached(.resealed)
      }
    } catch {
      contents?.seal = open.seal
      throw error
    }
    ring = fresh
  }

  private static func resealRows(of change: inout VaultChange, from old: VaultSeal) throws {
    let connection = change.connection
    try SessionTable(connection: connection, seal: old).reseal(with: change.seal, in: &change.manifest)
    try RefreshIntentTable(connection: connection, seal: old).reseal(with: change.seal, in: &change.manifest)
    try PendingLoginTable(connection: connection, seal: old).reseal(with: change.seal, in: &change.manifest)
    try RevocationTable(connection: connection, seal: old).reseal(with: change.seal, in: &change.manifest)
    try ParkedSessionTable(connection: connection, seal: old).reseal(with: change.seal, in: &change.manifest)
    try QueuedRequestTable(connection: connection, seal: old).reseal(with: change.seal, in: &change.manifest)
    try QueuedContentsTable(connection: connection, seal: old).reseal(with: change.seal)
    try MetadataTable(connection: connection, seal: old).reseal(with: change.seal, in: &change.manifest)
    try AuditTable(connection: connection, seal: old).reseal(with: change.seal)
    let events = EventTable(connection: connection, seal: old)
    for series in EventSeries.allCases {
      let range = change.head[series]
      guard try events.reseal(with: change.seal, from: range.first, through: range.last) else {
        try change.dropAllEvents()
        break
      }
    }
    change.manifest.distrustAll()
  }

  /// Puts a new key file in its place; a failure is made up for at the next unlock.
  ///
  /// The old key file is kept until then: it is removed once the new key has opened the vault, so that a copy of the
  /// vault from before opens for as long as it is not known whether the new key can be read again.
  private func settle(_ source: KeySourceName) {
    if source == .file { keyFileUsers?.note() } else { keyFileUsers?.forget() }
    guard source == .file else { return }
    // The database needs the new key already, and finds it where it is.
    try? encryption.settings.keyFile().promoteNext(keepsPrevious: true)
  }
}
