import BrokerCore
import BrokerProtocol
import SQLite
import Sealing

/// Ends a session for good on a disk that has no room for it.
extension Vault {
  /// Lets rows count as removed from here on, over every start, and the rest of a change wait for room on the disk.
  ///
  /// Only for a change that signs out, of which the disk has certainly kept nothing, after none that it may have kept
  /// without saying so: the row that came back with that one would have no tombstone.
  ///
  /// - Returns: whether that is durable.
  func endInPlace(_ steps: [StoreStep]) -> Bool {
    guard let tombstones, let open = contents, isDiskFull, !isCommitInDoubt, isFileInPlace else { return false }
    var ended = open.ended
    var hasEnd = false
    for step in steps {
      guard let rows = step.endedRows else { return false }
      for row in rows {
        if let tag = open.manifest[row.table, row.name] { ended[row] = tag }
        hasEnd = hasEnd || row.table == .session || row.table == .parkedSession
      }
    }
    guard hasEnd, tombstones.write(Set(ended.values)) else { return false }
    contents?.ended = ended
    contents?.deferred += steps
    return true
  }

  /// Takes in which rows have ended although the database still has them, and removes them where there is room by now.
  func takeTombstones(_ vaultID: [UInt8]) {
    guard let open = contents else { return }
    tombstones = TombstoneFile(ofDatabase: path, vaultID: vaultID, mac: open.anchorHash)
    guard let tags = tombstones?.tags, !tags.isEmpty else { return }
    contents?.ended = open.manifest.rows.filter { tags.contains($0.value) }
    try? bury()
  }

  /// Removes the rows that have ended.
  ///
  /// - Throws: `StoreFailure`; they go on to count as removed.
  func bury() throws(StoreFailure) {
    if contents?.ended.isEmpty == false { try change { _ in } }
  }

  /// Takes in that the database says by now which rows have ended.
  func noteBuried() {
    contents?.ended = [:]
    contents?.deferred = []
    // One that stays stands for a box that is nowhere any more.
    _ = tombstones?.write([])
  }
}

extension StoreStep {
  /// The rows that it removes or replaces by nothing of worth, where it may wait for room on the disk once they count as
  /// removed; nil for a step that may not.
  fileprivate var endedRows: [Manifest.Row]? {
    switch self {
    case .record(let record):
      guard case .signedOut = record.contents else { return nil }
      let name = record.profile.description
      return [Manifest.Row(table: .session, name: name), Manifest.Row(table: .refreshIntent, name: name)]
    case .closeLogin(let profile): return [Manifest.Row(table: .pendingLogin, name: profile.description)]
    case .closeIntent(let profile): return [Manifest.Row(table: .refreshIntent, name: profile.description)]
    case .unpark(let id): return [Manifest.Row(table: .parkedSession, name: ParkedSessionTable.name(of: id))]
    case .forgetRequest(let id): return [Manifest.Row(table: .queuedRequest, name: QueuedRequestTable.name(of: id))]
    case .openRevocation, .closeRevocation, .event, .eventsIncomplete: return []
    case .openIntent, .openLogin, .park, .keepRequest: return nil
    }
  }
}

extension VaultChange {
  /// Does what has waited for room on the disk, then removes the rows that have ended and are there still.
  ///
  /// - Throws: `VaultError`.
  mutating func bury(_ open: OpenVault) throws {
    for step in open.deferred {
      // A record that is there already came with a commit that has reported an error.
      do { try apply(step) } catch StoreFailure.superseded {}
    }
    let rest = open.ended.filter { manifest[$0.key.table, $0.key.name] == $0.value }
    guard !rest.isEmpty else { return }
    // What went with their end was lost with the process.
    head.completeness.lose(through: sequence, lasting: true)
    for (row, tag) in rest { try remove(row, tag) }
  }

  /// Removes a row; the tokens of a session are still to be revoked, as far as is known.
  private mutating func remove(_ row: Manifest.Row, _ tag: RowTag) throws {
    switch row.table {
    case .session:
      let table = SessionTable(connection: connection, seal: seal)
      if let record = try table.record(row.name, tag), case .living(let session) = record.contents {
        let numbers = manifest.rows.keys.filter { $0.table == .revocation && $0.profile == record.profile }
          .compactMap { UInt64(String($0.name.drop { $0 != "/" }.dropFirst())) }
        let id = PendingRevocation.ID(profile: record.profile, number: (numbers.max() ?? 0) + 1)
        try apply(
          .openRevocation(
            PendingRevocation(
              id: id, binding: record.binding, tokens: session.tokens, userID: session.user?.id, everywhere: false,
              startedAt: Timestamp(milliseconds: time))))
      }
      try table.remove(row.name)
    case .refreshIntent, .pendingLogin:
      guard let profile = row.profile else { return }
      try apply(row.table == .pendingLogin ? .closeLogin(profile) : .closeIntent(profile))
    case .parkedSession: try ParkedSessionTable(connection: connection, seal: seal).remove(row.name)
    case .queuedRequest:
      try QueuedRequestTable(connection: connection, seal: seal).remove(row.name)
      try QueuedContentsTable(connection: connection, seal: seal).remove(row.name)
    case .revocation, .metadata: return
    }
    manifest[row.table, row.name] = nil
    endsSession = true
  }
}
