package import BrokerCore
package import BrokerProtocol
import SQLite
import Sealing
import SecretMemory

extension Vault {
  /// How far the clock may be behind the vault's last change: time zones that were set wrong, and clocks that drift.
  private static let clockTolerance: Int64 = 86_400_000

  /// Checks the database, every sealed value, and what surrounds them.
  ///
  /// - Parameter isFull: also whether indexes agree with their tables, and every event.
  /// - Returns: what a person should know; nothing was changed.
  /// - Throws: `StoreFailure.locked`, `.failed`.
  package func check(isFull: Bool) async throws(StoreFailure) -> [VaultFinding] {
    if isFileInPlace { contents?.suspicions.remove(.fileReplaced) } else { contents?.suspicions.insert(.fileReplaced) }
    let (connection, open) = try opened()
    var findings: [VaultFinding] = []
    do throws(VaultError) {
      findings += try Self.damage(of: connection, isFull)
      findings += try tampering(connection, open)
      if isFull, !open.mustDropEvents { findings += try eventDamage(connection, open) }
      findings += try auditFindings(connection, open)
    } catch { throw StoreFailure(error) }
    if isFull { findings += try await auditDamage() }
    findings += VaultSuspicion.allCases.filter { open.suspicions.contains($0) }.map(\.finding)
    return findings + surroundings(open)
  }

  private static func damage(
    of connection: SQLiteConnection, _ isFull: Bool
  ) throws(VaultError) -> [VaultFinding] {
    do throws(SQLiteError) {
      try connection.checkIntegrity(isFull ? .full : .quick)
      return []
    } catch {
      guard [.corrupt, .notADatabase].contains(error.code.primary) else { throw .storage(error) }
      return [
        VaultFinding(
          .databaseDamaged, isError: true,
          "The vault's file is inconsistent; restore it from a backup, or move all its files "
            + "(vault.sqlite*) away and log in again.")
      ]
    }
  }

  /// Opens every row, and compares what is on the disk with what was written last.
  private func tampering(_ connection: SQLiteConnection, _ open: OpenVault) throws(VaultError) -> [VaultFinding] {
    let reader = VaultReader(connection: connection, seal: open.seal)
    let rows = try reader.contents(open.manifest)
    var findings = rows.contents.tampered.map { profile in
      VaultFinding(
        .tampered, isError: true, "The record of profile \(profile) has been modified; log in again.",
        profile: profile)
    }
    var suspicions: Set<VaultSuspicion> = rows.hasForeignRows ? [.foreignRow] : []
    if !rows.spoilt.isEmpty { suspicions.insert(.request) }
    let known = open.suspicions
    // What was lost when the vault was opened is put in order by the next change, and told of until then.
    if known.isDisjoint(with: [.head, .manifest, .events, .rolledBack]) {
      let found = try reader.start()
      suspicions.formUnion(found.suspicions)
      if found.head != open.head { suspicions.insert(.head) }
      if try HeadTable(connection: connection).sequence() != sequence, !known.contains(.sequence) {
        suspicions.insert(.sequence)
      }
    }
    findings += VaultSuspicion.allCases.filter { suspicions.subtracting(known).contains($0) }.map(\.finding)
    return findings
  }

  private func eventDamage(_ connection: SQLiteConnection, _ open: OpenVault) throws(VaultError) -> [VaultFinding] {
    do throws(VaultError) {
      try EventTable(connection: connection, seal: open.seal).openAll()
      return []
    } catch {
      guard case .damaged = error else { throw error }
      return [VaultSuspicion.events.finding]
    }
  }

  /// The rollback that the anchor cannot detect where it is.
  private var unnoticedRollback: VaultFinding {
    VaultFinding(
      .rollbackUnnoticed, isError: false,
      anchor == nil
        ? "There is no place for the vault's anchor, so a rollback of the vault to an earlier copy is not detected."
        : "The vault's anchor is in the vault's directory, so a rollback of the whole directory to an earlier copy is not "
          + "detected.")
  }

  /// The findings outside of the database: anchor, clock and files.
  private func surroundings(_ open: OpenVault) -> [VaultFinding] {
    var findings: [VaultFinding] = []
    anchor?.read()
    if let known = anchor?.generation, known > open.head.generation, !open.suspicions.contains(.rolledBack) {
      findings.append(VaultSuspicion.rolledBack.finding)
    }
    if anchor == nil || !isAnchorElsewhere { findings.append(unnoticedRollback) }
    if now() + Self.clockTolerance < open.head.changedAt {
      findings.append(
        VaultFinding(
          .clockSetBack, isError: true, "The clock is more than a day behind the vault's last change; set the clock."))
    }
    if recordedSource != configuredSource {
      findings.append(
        VaultFinding(
          .keySourceDiffers, isError: false,
          "The vault's key source is \(recordedSource.rawValue), but the configuration names \(configuredSource.rawValue); "
            + "to keep that of the vault, set vault.keySource to \"\(recordedSource.rawValue)\" in the configuration; "
            + "to change it, rekey the vault."))
    }
    if !SecretArena.isLocked {
      findings.append(
        VaultFinding(
          .memoryUnlocked, isError: false,
          "The memory for secrets is not locked against swapping; raise the limit of locked memory (ulimit -l)."))
    }
    return findings
  }
}
