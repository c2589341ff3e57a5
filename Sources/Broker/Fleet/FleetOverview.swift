package import BrokerCore
package import BrokerProtocol
import Records
package import Sealing

/// The records of a fleet, as one machine can use them.
package struct FleetOverview: Sendable {
  /// Whether a machine can use a record, or why it cannot.
  package enum Use: Sendable, Equatable {
    /// It has a session.
    case usable
    /// Its session is over: by a logout, or because its provider has ended it.
    case signedOut, ended
    /// Its profile is shared, and there was no login yet.
    case absent
    /// It is of another provider, client or address: the one in the fleet.
    case otherBinding(ProviderBinding)
    /// It was not written by a member, or under another key.
    case damaged
    /// Its profile is not shared on this machine.
    case notShared
  }

  /// One record, or one that is missing.
  package struct Record: Sendable, Equatable {
    /// The name of its profile.
    package let name: String
    /// The version; nil where there is none.
    package let version: Int64?
    /// Whether it can be used.
    package let use: Use
    /// How long the lease of a refresh that is under way still runs at most; nil for none.
    package let lease: Duration?
    /// Whether a refresh was begun whose member has not written what became of it.
    package let hasLostReply: Bool
  }

  /// All records, and those that are missing, by their names.
  package private(set) var records: [Record] = []

  /// Opens rows.
  ///
  /// - Parameters:
  ///   - rows: all of a fleet.
  ///   - fleet: its name.
  ///   - key: the key that its data key is wrapped under.
  ///   - bindings: the profiles that are shared on this machine.
  /// - Throws: ``SharedRecordFailure``.
  package init(
    _ rows: SharedRows, fleet: String, under key: SealingKey, bindings: [ProfileName: ProviderBinding]
  ) throws(SharedRecordFailure) {
    let seal = try FleetKey.unwrap(rows.rows[FleetKey.rowName], fleet: fleet, under: key).seal
    let coding = FleetCoding(fleet: fleet, seal: seal)
    let names = Set(rows.rows.keys).union(bindings.keys.map(\.description)).subtracting([FleetKey.rowName])
    for name in names.sorted() {
      let profile = ProfileName(name)
      records.append(
        Self.record(named: name, rows.rows[name], at: rows.time, profile.flatMap { bindings[$0] }, coding))
    }
  }

  private static func record(
    named name: String, _ row: SharedRow?, at time: Int64, _ binding: ProviderBinding?, _ coding: FleetCoding
  ) -> Record {
    let without = { (use: Use) in
      Record(name: name, version: row?.version, use: use, lease: nil, hasLostReply: false)
    }
    guard let row else { return without(.absent) }
    do {
      guard let profile = ProfileName(name) else { return without(.damaged) }
      let found = try coding.binding(of: row, of: profile)
      let entry = try coding.decode(row, of: profile, found)
      let left = entry.flight.map { $0.leaseEnd - time }
      return Record(
        name: name, version: row.version, use: try use(of: entry, found, binding),
        lease: left.flatMap { $0 > 0 ? .milliseconds($0) : nil }, hasLostReply: left.map { $0 <= 0 } ?? false)
    } catch { return without(.damaged) }
  }

  private static func use(
    of entry: FleetEntry, _ found: ProviderBinding, _ own: ProviderBinding?
  ) throws -> Use {
    guard let own else { return .notShared }
    guard own == found else { return .otherBinding(found) }
    switch try SessionContentsCoding.decode(entry.contents) {
    case .living: return .usable
    case .signedOut: return .signedOut
    case .ended, .reauthenticationRequired: return .ended
    }
  }
}
