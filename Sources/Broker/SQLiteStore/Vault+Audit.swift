package import BrokerCore
package import BrokerProtocol
import Records
import SQLite

extension Vault: AuditStore {
  /// The end of the audit, as the sealed head has it.
  package func auditState() async throws(StoreFailure) -> AuditState {
    let (_, open) = try opened()
    let end = open.head.audit
    return AuditState(head: end.head, isInterrupted: end.last > 0 && !end.isClosed || open.isAuditSuspect)
  }

  /// Appends entries in one transaction; what is kept for sessions on a full disk is not touched.
  ///
  /// - Throws: `StoreFailure.locked`, `.failed`, `.tampered` where the file is not in its place.
  package func appendAudit(_ entries: [AuditEntry]) async throws(StoreFailure) -> AuditHead {
    let (connection, open) = try opened()
    try requireFileInPlace()
    do {
      try attempt(connection, open) { change in try change.append(entries, open.auditChain) }
    } catch let error as StoreFailure {
      throw error
    } catch {
      let failure = VaultError(whileReading: error)
      if case .storage = failure, !failure.isDiskFull { isCommitInDoubt = true }
      throw StoreFailure(failure)
    }
    return try await auditState().head ?? AuditHead(number: 0, text: "")
  }

  /// The most entries of a page: the loop renders them in a millisecond or two.
  private static let pageEntries = 200

  /// Opens the entries behind one, as many as fit into a page.
  package func readAudit(
    after number: Int, since: Timestamp?, profile: ProfileName?
  ) async throws(StoreFailure) -> AuditPage {
    let (connection, open) = try opened()
    let end = open.head.audit
    var page = AuditPage(entries: [], through: Int(end.last), head: end.head)
    var rows = 0
    do throws(VaultError) {
      let table = AuditTable(connection: connection, seal: open.seal)
      try table.forEachRow(after: Int64(clamping: number), since: since?.milliseconds ?? .min) { row in
        guard row.number <= end.last else { return false }
        rows += 1
        if let entry = row.contents.flatMap({ AuditCoding.decode($0.text) }), entry.isAbout(profile) {
          page.entries.append(entry)
        }
        let isFull = page.entries.count >= Self.pageEntries || rows >= AuditTable.pageCount
        if isFull { page.through = Int(row.number) }
        return !isFull
      }
    } catch { throw StoreFailure(error) }
    return page
  }

  /// Verifies every entry, and leaves the vault's thread between two parts of the work.
  package nonisolated func verifyAudit(against head: String?) async throws(StoreFailure) -> AuditVerification {
    var walk = try await beginWalk(comparing: head.flatMap(AuditLink.head))
    while !walk.isFinished { walk = try await goOn(walk) }
    return walk.outcome
  }

  private func beginWalk(
    comparing given: (number: Int64, link: AuditLink)?
  ) throws(StoreFailure) -> AuditWalk {
    let (connection, open) = try opened()
    do throws(VaultError) {
      let table = AuditTable(connection: connection, seal: open.seal)
      return AuditWalk(open.head.audit, behind: try table.checkpoint(), open.auditChain, comparing: given)
    } catch { throw StoreFailure(error) }
  }

  private func goOn(_ walk: AuditWalk) throws(StoreFailure) -> AuditWalk {
    let (connection, open) = try opened()
    var walk = walk
    var rows = 0
    do throws(VaultError) {
      let table = AuditTable(connection: connection, seal: open.seal)
      if open.head.audit.pruned >= walk.next { walk.skip(to: try table.checkpoint()) }
      try table.forEachRow(after: walk.next - 1) { row in
        rows += 1
        return walk.take(row)
      }
    } catch { throw StoreFailure(error) }
    if rows < AuditTable.pageCount || walk.next > walk.end.last {
      walk.finish()
      do throws(VaultError) {
        let extent = try AuditTable(connection: connection, seal: open.seal).extent()
        walk.judge(extent, open.head.audit)
      } catch { throw StoreFailure(error) }
    }
    return walk
  }

  // MARK: The check of the vault

  /// The findings about the audit that cost no look at each entry.
  func auditFindings(_ connection: SQLiteConnection, _ open: OpenVault) throws(VaultError) -> [VaultFinding] {
    var end = open.head.audit
    let isOther = try AuditTable(connection: connection, seal: open.seal).adopt(&end)
    var findings: [VaultFinding] = []
    if open.isAuditSuspect || isOther {
      findings.append(
        VaultFinding(
          .auditTampered, isError: true,
          "Entries of the audit are missing or were added; `authbroker audit --verify` says which."))
    }
    if end.lastGap > end.pruned {
      findings.append(
        VaultFinding(
          .auditGap, isError: false,
          "The audit has a gap before entry \(end.lastGap); `authbroker audit --verify` tells of each."))
    }
    return findings
  }

  /// The findings of a look at each entry.
  func auditDamage() async throws(StoreFailure) -> [VaultFinding] {
    try await verifyAudit(against: nil).findings.filter(\.isError).map { finding in
      VaultFinding(.auditTampered, isError: true, "The audit has been modified: \(finding.message)")
    }
  }
}

extension AuditEnd {
  /// The head of the audit; nil where it has no entry.
  fileprivate var head: AuditHead? { last > 0 ? AuditHead(number: Int(last), text: link.head(last)) : nil }
}

extension AuditEntry {
  /// Whether it is about a profile, or about the audit itself.
  fileprivate func isAbout(_ profile: ProfileName?) -> Bool {
    guard let profile else { return true }
    return self.profile == profile || client == nil
  }
}

extension VaultChange {
  /// Appends entries to the audit under the next numbers, and prunes the oldest.
  ///
  /// - Throws: `VaultError.storage`, `.secretMemoryExhausted`.
  mutating func append(_ entries: [AuditEntry], _ chain: AuditChain) throws(VaultError) {
    let table = AuditTable(connection: connection, seal: seal)
    for var entry in entries {
      entry.number = Int(head.audit.last + 1)
      head.audit.link = try table.append(entry, after: head.audit.link, chain)
      head.audit.last += 1
      if entry.kind == AuditEntry.Kind.gap.rawValue { head.audit.lastGap = head.audit.last }
      head.audit.isClosed = entry.kind == AuditEntry.Kind.stop.rawValue
    }
    // A clock that is behind the newest entry says nothing about the age of the others.
    let isBehind = entries.last.map { time < $0.time.milliseconds } ?? true
    let oldest = isBehind ? Int64.min : time - AuditRetention.age.components.seconds * 1000
    let last = try table.lastToPrune(head.audit, keeping: Int64(AuditRetention.count), since: oldest)
    guard last > head.audit.pruned else { return }
    try table.prune(through: last)
    head.audit.pruned = last
  }
}
