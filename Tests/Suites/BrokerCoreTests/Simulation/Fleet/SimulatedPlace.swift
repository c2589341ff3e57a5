import BrokerCore
import BrokerProtocol
import Fleet
import Records
import Synchronization

/// What a place for shared records is asked.
enum RecordQuestion: Sendable {
  /// One record.
  case read(String)
  /// Those that are other ones than are known.
  case news([WantedRecord])
  case write([SharedWrite], isTold: Bool)

  /// The version that is known of the shared profile; nil for another question, `.some(nil)` where none is known.
  var known: Int64?? {
    guard case .news(let wanted) = self else { return nil }
    return wanted.first { $0.name == ProfileName.default.description }.map(\.version)
  }
}

/// What becomes of it.
enum RecordAnswer: Sendable {
  case rows(SharedRows)
  case written(Bool)
  case failed
}

/// Records on virtual time, as a database has them: the truth.
struct SimulatedPlace {
  /// The records.
  private(set) var rows: [String: SharedRow] = [:]
  /// What its clock shows at the uptime of the world, in milliseconds.
  private let epoch: Int64
  /// Earlier states, the last one behind.
  private var history: [[String: SharedRow]] = []

  /// A place without records, whose clock shows another time than the world's.
  init(epoch: Int64) { self.epoch = epoch }

  /// What its clock shows, in milliseconds.
  func time(at uptime: Duration) -> Int64 { epoch + uptime.milliseconds }

  /// Does what is asked.
  mutating func answer(_ question: RecordQuestion, at uptime: Duration) -> RecordAnswer {
    switch question {
    case .read(let name):
      return .rows(SharedRows(rows: rows.filter { $0.key == name }, time: time(at: uptime)))
    case .news(let wanted):
      var found = SharedRows(rows: [:], time: time(at: uptime))
      for entry in wanted where rows[entry.name]?.version != entry.version {
        if let row = rows[entry.name] { found.rows[entry.name] = row } else { found.gone.append(entry.name) }
      }
      return .rows(found)
    case .write(let changes, _):
      guard changes.allSatisfy({ rows[$0.name]?.version == $0.old }) else { return .written(false) }
      history = history.suffix(5) + [rows]
      for change in changes { rows[change.name] = SharedRow(version: change.new, bytes: change.bytes) }
      return .written(true)
    }
  }

  /// Goes back by so many writes, as a standby does that has not got the last ones; false where it has too few.
  mutating func failOver(losing count: Int) -> Bool {
    // The first state is that before the fleet was prepared.
    guard history.count > count else { return false }
    rows = history[history.count - count]
    history.removeLast(count)
    return true
  }
}

/// One member's way to the place.
final class PlaceView: SharedRecord {
  private let wire: Wire<RecordQuestion, RecordAnswer>
  private let teller = Mutex<(@Sendable (SharedTelling) -> Void)?>(nil)

  /// The way over a wire.
  init(_ wire: Wire<RecordQuestion, RecordAnswer>) { self.wire = wire }

  func read() async throws(SharedRecordFailure) -> SharedRows { preconditionFailure("no member reads everything") }

  func read(_ wanted: [WantedRecord]) async throws(SharedRecordFailure) -> SharedRows {
    try Self.rows(await wire.ask(.news(wanted)))
  }

  func read(_ name: String) async throws(SharedRecordFailure) -> SharedRows {
    try Self.rows(await wire.ask(.read(name)))
  }

  func write(
    _ bytes: [UInt8], as name: String, from old: Int64?, to new: Int64, isTold: Bool
  ) async throws(SharedRecordFailure) -> Bool {
    try await write([SharedWrite(bytes, as: name, from: old, to: new)], isTold: isTold)
  }

  func write(_ changes: [SharedWrite]) async throws(SharedRecordFailure) -> Bool {
    try await write(changes, isTold: true)
  }

  private func write(_ changes: [SharedWrite], isTold: Bool) async throws(SharedRecordFailure) -> Bool {
    guard case .written(let isWritten) = await wire.ask(.write(changes, isTold: isTold)) else {
      throw SharedRecordFailure("the place is away")
    }
    return isWritten
  }

  func watch(_ tell: @escaping @Sendable (SharedTelling) -> Void) async { teller.withLock { $0 = tell } }

  /// Gives the member a hint.
  func tell(_ telling: SharedTelling) { teller.withLock { $0 }?(telling) }

  func close() async {}

  private static func rows(_ answer: RecordAnswer) throws(SharedRecordFailure) -> SharedRows {
    guard case .rows(let rows) = answer else { throw SharedRecordFailure("the place is away") }
    return rows
  }
}
