package import BrokerCore
import BrokerProtocol
import LinuxSystem
import Records
import SQLite
import Sealing
package import SecretMemory

extension Vault: StoreKeeper {
  /// The status of the vault; before the key is there, rollbacks are noticed as far as the configuration says.
  package var status: StoreStatus {
    StoreStatus(
      isLocked: contents == nil, isInitialized: schemaVersion > 0, keySource: recordedSource,
      schemaVersion: Int(schemaVersion == 0 ? VaultSchema.version : schemaVersion),
      noticesRollback: isAnchorElsewhere && (contents == nil || anchor != nil),
      mayBeOlder: contents?.mayBeOlder ?? false, passphraseFailures: attempts.read(at: now()))
  }

  /// Whether the anchor is kept in another directory than the vault: a copy of one is then none of the other.
  var isAnchorElsewhere: Bool {
    anchorPath.map { PathName.directory(of: $0) != PathName.directory(of: path) } ?? false
  }

  /// The source of the key that opens the vault.
  var recordedSource: KeySourceName {
    switch schemaVersion {
    case 0: configuredSource
    case VaultSchema.unkeyedVersion: .file
    default: ring?.wrapped.source ?? configuredSource
    }
  }

  /// Gets the data key and reads what it vouches for; makes a new vault, or brings an old one to this schema.
  ///
  /// - Throws: `KeyFailure`; the vault is still locked then, and its file as it was.
  package func unlock(_ passphrase: Secret?) async throws(KeyFailure) {
    guard contents == nil else { return }
    let connection: SQLiteConnection
    do { connection = try database() } catch { throw KeyFailure(error) }
    switch schemaVersion {
    case 0: try create(connection, passphrase)
    case VaultSchema.unkeyedVersion: try migrate(connection)
    default: break
    }
    guard let ring else { throw KeyFailure(.damaged(part: "keyring")) }
    let key: SealingKey
    do throws(KeyRingError) {
      key = try encryption.unwrap(ring.wrapped, vaultID: ring.vaultID, passphrase: passphrase)
    } catch { throw KeyFailure(error, source: ring.wrapped.source) }
    if schemaVersion < VaultSchema.version { try migrateFurther(connection) }
    do throws(VaultError) {
      try take(VaultSeal(key: key, vaultID: ring.vaultID), connection)
      takeTombstones(ring.vaultID)
      try leaveLog(connection)
    } catch {
      forgetKeys()
      throw KeyFailure(error)
    }
    if ring.wrapped.source == .file {
      keyFileUsers?.note()
      try? encryption.settings.keyFile().discardPrevious()
    }
    try? finishRetirement(connection)
    // A key that was staged and never needed: one that was needed has taken its place by now, or may still be.
    if (try? endDoubt()) != nil { try? encryption.settings.keyFile().discardNext() }
    reserve.take()
  }

  /// Keeps the wrong passphrases so far in a file beside the vault.
  package func keep(_ failures: PassphraseFailures) async { attempts.write(failures) }

  /// Forgets the data key and everything that it opened; a vault that is locked already stays so.
  package func lock() async {
    forgetKeys()
  }

  /// Reads what the data key vouches for.
  private func take(_ seal: VaultSeal, _ connection: SQLiteConnection) throws(VaultError) {
    let reader = VaultReader(connection: connection, seal: seal)
    var (manifest, head, suspicions) = try reader.start()
    // The key is the right one: what was committed is worth keeping.
    connection.keepsLog = false
    var fingerprintKey = try reader.fingerprintKey(manifest)
    let isFingerprintNew = fingerprintKey == nil
    if isFingerprintNew {
      suspicions.insert(.metadata)
      do { fingerprintKey = try RandomBytes.secret(count: TokenFingerprint.keyByteCount) } catch {
        throw .secretMemoryExhausted
      }
    }
    guard let fingerprintKey, let fingerprint = TokenFingerprint(key: fingerprintKey) else {
      throw .damaged(part: MetadataTable.Name.fingerprintKey.rawValue)
    }
    let anchorHash = try OpenVault.anchorHash(from: fingerprintKey)
    let sealingKey = try OpenVault.providerKey(from: fingerprintKey)
    anchor = anchorPath.flatMap { AnchorFile(path: $0, vaultID: seal.vaultID, mac: anchorHash) }
    Self.compare(&head, anchor, isFingerprintNew, &suspicions)
    judgeSequence(&head, &suspicions)
    let isAuditSuspect = try AuditTable(connection: connection, seal: seal).adopt(&head.audit)
    if let predecessor { suspicions.insert(predecessor) }
    let eventBytes = try EventTable(connection: connection, seal: seal).byteCount()
    contents = OpenVault(
      seal: seal, anchorHash: anchorHash, auditChain: try OpenVault.auditChain(from: fingerprintKey),
      manifest: manifest, head: head, suspicions: suspicions, eventBytes: eventBytes, isAuditSuspect: isAuditSuspect,
      mustDropEvents: suspicions.contains(.events))
    if isFingerprintNew {
      // Without it, names would be others after each start. Where it cannot be written, they are.
      _ = try? change { try $0.set(.fingerprintKey, to: fingerprintKey) }
    }
    entropy.use(fingerprint)
    providerKey.use(sealingKey)
  }

  /// Brings what is in the log into the database file, and a new vault's existence to its anchor: a vault that was
  /// reported does not live in its log alone, where one lost file would make it look as if it had never been.
  private func leaveLog(_ connection: SQLiteConnection) throws(VaultError) {
    do throws(SQLiteError) {
      try connection.checkpoint()
    } catch {
      // One that is not new has its tables in the file, or was reported with them in the log before.
      if isNew { throw .storage(error) }
      return
    }
    isNew = false
    // One that is gone or another's is told of until the next change, which writes it.
    guard let contents, anchor?.generation == nil,
      contents.suspicions.isDisjoint(with: [.anchorForeign, .anchorMissing])
    else { return }
    anchor?.write(contents.head.generation)
    anchor?.synchronize()
  }

  /// Notices that the anchor knows more than the head.
  private static func compare(
    _ head: inout VaultHead, _ anchor: AnchorFile?, _ isKeyNew: Bool, _ suspicions: inout Set<VaultSuspicion>
  ) {
    guard let known = anchor?.generation else {
      if anchor?.isForeign ?? false {
        suspicions.insert(.anchorForeign)
      } else if anchor != nil, head.hasAnchor, !isKeyNew {
        suspicions.insert(.anchorMissing)
      }
      return
    }
    guard known > head.generation else { return }
    // A lost head has no generation of its own to be older than the anchor's.
    if !suspicions.contains(.head) { suspicions.insert(.rolledBack) }
    head.generation = known
  }

  private func judgeSequence(_ head: inout VaultHead, _ suspicions: inout Set<VaultSuspicion>) {
    // With a lost head nothing is known but what stands in the clear; an older copy does not know what was given since.
    if !suspicions.isDisjoint(with: [.head, .rolledBack]) {
      let claimed = min(sequence, VaultReader.highestUnsealedSequence)
      sequence = max(claimed, head.sequenceFloor).addingClamped(VaultReader.sequenceJump)
      head.completeness.lose(through: sequence, lasting: true)
      return
    }
    let (distance, isBelow) = sequence.subtractingReportingOverflow(head.sequenceFloor)
    guard isBelow || distance > VaultReader.sequenceRoom else { return }
    suspicions.insert(.sequence)
    sequence = head.sequenceFloor.addingClamped(VaultReader.sequenceJump)
  }

  /// Makes a new vault with a new data key.
  private func create(_ connection: SQLiteConnection, _ passphrase: Secret?) throws(KeyFailure) {
    let kek: KeyEncryptionKey
    do throws(KeySourceError) {
      kek = try encryption.newKey(from: configuredSource, passphrase: passphrase)
    } catch { throw KeyFailure(error) }
    reached(.keyReady)
    do throws(VaultError) {
      connection.keepsLog = false
      try VaultCreation(connection: connection, sequence: sequence, time: now()).make(kek) { reached(.resealed) }
      ring = try KeyringTable(connection: connection).ring()
    } catch {
      // A commit that failed may be in the log all the same, and come back at the next start: its key stays.
      throw KeyFailure(error)
    }
    schemaVersion = VaultSchema.version
    isNew = true
    reached(.committed)
    do { try encryption.settle(configuredSource) } catch { throw KeyFailure(error) }
    reached(.settled)
  }

  /// Removes a key file that a rekey has made useless; whatever fails is tried again at the next start.
  ///
  /// Only the configured one is removed: what the row says is not sealed.
  private func finishRetirement(_ connection: SQLiteConnection) throws {
    guard let ring, let retired = ring.retiredKeyFile else { return }
    if ring.wrapped.source != .file, retired == encryption.settings.keyFilePath, !(keyFileUsers?.mayHaveOther ?? false)
    {
      try encryption.settle(ring.wrapped.source, replacing: .file)
      // What the key file was before opens earlier copies of the vault as well.
      try encryption.settings.keyFile().discardPrevious()
    }
    try KeyringTable(connection: connection).forgetRetiredKeyFile()
    self.ring?.retiredKeyFile = nil
  }
}

extension UInt64 {
  /// The sum, or the largest number there is.
  fileprivate func addingClamped(_ other: UInt64) -> UInt64 {
    let (sum, overflow) = addingReportingOverflow(other)
    return overflow ? .max : sum
  }
}
