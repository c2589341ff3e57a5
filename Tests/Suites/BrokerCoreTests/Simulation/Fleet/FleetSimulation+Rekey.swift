import BrokerProtocol
import Fleet
import Records
import Sealing
import Synchronization

@testable import Fleet

/// The keys that a simulated fleet has had, and what opens under which.
struct FleetKeys {
  /// The key of now that data keys are wrapped under; members get it in a file.
  var storeKey: SealingKey
  /// A change that is about to be written, and the key that it brings; nil for the same.
  var pending: (plan: FleetRekey.Plan, storeKey: SealingKey?)?
  /// The codings by the names of their data keys, each with the key that it is wrapped under.
  private var codings: [[UInt8]: (coding: FleetCoding, wrapping: SealingKey.ID)] = [:]

  /// Keys without a data key yet.
  init() throws { storeKey = try SealingKey.random() }

  /// Adds the data key of a row.
  mutating func add(_ row: [UInt8], under key: SealingKey) throws(SealingError) {
    let seal = try FleetKey(row, fleet: "f", under: key).seal
    codings[seal.vaultID] = (FleetCoding(fleet: "f", seal: seal), key.id)
  }

  /// What opens a row.
  func coding(of row: SharedRow) -> FleetCoding? { FleetRowParts(row.bytes).flatMap { codings[$0.key]?.coding } }

  private func name(_ rows: SharedRows) -> [UInt8]? {
    rows.rows[FleetKey.rowName].flatMap { FleetKey.id(in: $0.bytes) }
  }

  /// Lets a member unwrap the key that is among rows, if it can.
  func show(_ rows: SharedRows, to member: FleetMember) {
    if let name = name(rows), codings[name]?.wrapping == member.file.key.id { member.opened = name }
  }

  /// Whether a member has the data key of rows: they come without it where it is the one that the member knows.
  func canOpen(_ rows: SharedRows, _ member: FleetMember) -> Bool { name(rows).map { $0 == member.opened } ?? true }
}

/// The file with the key of one simulated machine.
final class SimulatedKeyFile: Sendable {
  private let content: Mutex<SealingKey>

  /// The key; it may be replaced.
  var key: SealingKey {
    get { content.withLock { $0 } }
    set { content.withLock { $0 = newValue } }
  }

  /// A file with a key.
  init(_ key: SealingKey) { content = Mutex(key) }
}

extension FleetSimulation {
  /// Reads everything to change the key, or writes what was read in an earlier step.
  func rekey() throws(Violation) {
    do {
      if keys.pending == nil {
        // After a failover no member could open what is there.
        let new = !plan.failsOver && Bool.random(using: &random) ? try SealingKey.random() : nil
        let rows = SharedRows(rows: place.rows, time: place.time(at: world))
        keys.pending = (try FleetRekey("f", under: keys.storeKey, to: new).plan(rows), new)
        if Bool.random(using: &random) { return }
      }
      guard let (change, storeKey) = keys.pending else { return }
      keys.pending = nil
      guard storeKey == nil || change.leaseEnd == nil else { return }
      try keys.add(change.changes[0].bytes, under: storeKey ?? keys.storeKey)
      guard change.report.damaged.isEmpty else { throw Violation(.durableFirst, "\(change.report) cannot be sealed") }
      guard case .written(true) = try act(.write(change.changes, isTold: true)) else { return }
      trace.note("another key\(storeKey == nil ? "" : ", and another store.key")")
      if let storeKey { keys.storeKey = storeKey }
      counts.rekeys += 1
      counts.newKeys += storeKey == nil ? 0 : 1
    } catch let violation as Violation {
      throw violation
    } catch { throw Violation(.durableFirst, "the key cannot be changed: \(error)") }
  }
}
