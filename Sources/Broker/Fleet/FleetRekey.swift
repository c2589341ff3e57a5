import BrokerProtocol
import Records
package import Sealing

/// A change of the data key of a fleet: all records are sealed again under a new one, together, and the members follow.
///
/// A member that has read before fails its next write, since each row has another version, and unwraps the new key then. A flight
/// that is under way goes on. Where `store.key` changes as well, no lease may run: its holder could not write what it is about
/// to be given.
package struct FleetRekey: Sendable {
  /// Why the key was not changed.
  package enum Failure: Error, Sendable, Equatable {
    /// It is the same as before, for this reason.
    case refused(SharedRecordFailure)
    /// Whether it is another one is not known, for this reason.
    case unknown(SharedRecordFailure)
  }

  /// The outcome of a change.
  package struct Report: Sendable, Equatable {
    /// The records that are sealed under the new key.
    package var sealed: [String] = []
    /// The records that no member could open before, and none can now.
    package var damaged: [String] = []
  }

  /// The rows to write in the place of those that were read.
  struct Plan {
    /// All rows, with that of the key.
    var changes: [SharedWrite]
    /// The name of the new data key.
    var key: [UInt8]
    /// The outcome once they are written.
    var report = Report()
    /// When the last lease that runs ends, by the clock of the place in milliseconds; nil for none.
    var leaseEnd: Int64?
  }

  /// How long it is tried while members write, by the clock of the place in milliseconds: longer than a lease.
  private static let patience: Int64 = 60_000

  private let fleet: String
  private let old: SealingKey
  private let new: SealingKey?

  /// A change for a fleet whose data key is wrapped under a key, and is to be under another one; nil for the same.
  package init(_ fleet: String, under old: SealingKey, to new: SealingKey?) {
    (self.fleet, self.old, self.new) = (fleet, old, new)
  }

  /// Makes it.
  ///
  /// - Parameters:
  ///   - record: the place.
  ///   - pause: waits for some hundred milliseconds, since members write.
  /// - Returns: what was sealed.
  /// - Throws: ``Failure``.
  package func run(in record: any SharedRecord, pause: () async -> Void) async throws(Failure) -> Report {
    var begin: Int64?
    while true {
      let (rows, plan): (SharedRows, Plan)
      do throws(SharedRecordFailure) {
        rows = try await record.read()
        plan = try self.plan(rows)
      } catch { throw .refused(error) }
      if new == nil || plan.leaseEnd == nil, try await write(plan, over: rows, in: record) { return plan.report }
      guard rows.time - (begin ?? rows.time) < Self.patience else {
        let reason = new != nil && plan.leaseEnd != nil ? "a refresh is under way" : "its members write"
        throw .refused(SharedRecordFailure("\(reason) all the time; try again"))
      }
      begin = begin ?? rows.time
      await pause()
    }
  }

  /// Seals rows under a new key.
  ///
  /// - Throws: ``SharedRecordFailure``.
  func plan(_ rows: SharedRows) throws(SharedRecordFailure) -> Plan {
    let row = rows.rows[FleetKey.rowName]
    let before = FleetCoding(fleet: fleet, seal: try FleetKey.unwrap(row, fleet: fleet, under: old).seal)
    let (bytes, key): ([UInt8], FleetKey)
    do throws(SealingError) {
      bytes = try FleetKey.make(fleet: fleet, under: new ?? old)
      key = try FleetKey(bytes, fleet: fleet, under: new ?? old)
    } catch { throw Self.noRoom }
    let after = FleetCoding(fleet: fleet, seal: key.seal)
    let change = SharedWrite(
      bytes, as: FleetKey.rowName, from: row?.version, to: try Self.version(after: row?.version ?? 0, at: rows.time))
    var plan = Plan(changes: [change], key: key.seal.vaultID)
    for (name, row) in rows.rows.sorted(by: { $0.key < $1.key }) where name != FleetKey.rowName {
      plan.changes.append(try seal(row, named: name, before, after, at: rows.time, &plan))
    }
    return plan
  }

  private static let noRoom = SharedRecordFailure("there is no room for secrets")

  private static func version(after last: Int64, at time: Int64) throws(SharedRecordFailure) -> Int64 {
    guard let version = FleetMark.version(after: last, at: time) else {
      throw SharedRecordFailure("a record has the last version that there is")
    }
    return version
  }

  private func seal(
    _ row: SharedRow, named name: String, _ before: FleetCoding, _ after: FleetCoding, at time: Int64,
    _ plan: inout Plan
  ) throws(SharedRecordFailure) -> SharedWrite {
    let version = try Self.version(after: row.version, at: time)
    guard row.bytes.first ?? 0 <= FleetRowParts.format else {
      throw SharedRecordFailure("the record of \(name) is of a newer version; update authbroker here")
    }
    do throws(FleetCoding.Fault) {
      guard let profile = ProfileName(name) else { throw .damaged }
      let binding = try before.binding(of: row, of: profile)
      let entry = try before.decode(row, of: profile, binding)
      if let end = entry.flight?.leaseEnd, end > time { plan.leaseEnd = max(plan.leaseEnd ?? end, end) }
      plan.report.sealed.append(name)
      return SharedWrite(
        after.encode(entry, of: profile, binding, version: version), as: name, from: row.version, to: version)
    } catch .noRoom {
      throw Self.noRoom
    } catch {
      plan.report.damaged.append(name)
      // With another version, so that a login which is about to take its place under the old key begins again.
      return SharedWrite(row.bytes, as: name, from: row.version, to: version)
    }
  }

  /// Writes everything; false where a member has written since.
  private func write(_ plan: Plan, over rows: SharedRows, in record: any SharedRecord) async throws(Failure) -> Bool {
    let first: SharedRecordFailure
    do throws(SharedRecordFailure) { return try await record.write(plan.changes) } catch { first = error }
    let old = rows.rows[FleetKey.rowName]
    do throws(SharedRecordFailure) {
      // It may still be on its way: once the row of the key has another version, it is not.
      while true {
        let row = try await record.read().rows[FleetKey.rowName]
        if let row, FleetKey.id(in: row.bytes) == plan.key { return true }
        guard let row, row.version == old?.version else { break }
        let version = try Self.version(after: row.version, at: rows.time)
        if try await record.write(row.bytes, as: FleetKey.rowName, from: row.version, to: version) { break }
      }
    } catch { throw .unknown(error) }
    throw .refused(first)
  }
}
