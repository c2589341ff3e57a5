import BrokerCore
import BrokerProtocol
import Records
import SecretMemory

/// Decides on a change of one session of the fleet by what rests in its row.
///
/// A value: it does no I/O.
struct FleetChange {
  /// The session as it rests; nil where there is none, or one that cannot be trusted.
  private(set) var entry: FleetEntry?
  /// Whether the row was newer before: nothing is spent of it, and only a record may come in its place.
  var isRolledBack = false
  /// Whether it was not written again since it went back.
  var isEarlier = false
  /// Whether the record in it is one that this member has written without an answer.
  var isOwn = false

  private let member: [UInt8]
  private let lease: Duration
  private let time: Int64
  private let clock: FleetClock

  /// A change by a member with this clock, at a time by the clock of the store.
  init(_ entry: FleetEntry?, member: [UInt8], lease: Duration, time: Int64, clock: FleetClock) {
    self.entry = entry
    self.member = member
    self.lease = lease
    self.time = time
    self.clock = clock
  }

  /// Does all steps, or none of them.
  ///
  /// - Returns: the session to write; nil where nothing changes.
  /// - Throws: `StoreFailure`, as `RecordStore.commit(_:)` says.
  mutating func apply(_ steps: [StoreStep]) throws(StoreFailure) -> FleetEntry? {
    var hasChanged = false
    for step in steps {
      switch step {
      case .record(let record): try save(record)
      case .openIntent(let intent): try open(intent)
      case .closeIntent:
        guard let flight = entry?.flight, flight.holder == member else { continue }
        entry?.flight = nil
      default: continue
      }
      hasChanged = true
    }
    return hasChanged ? entry : nil
  }

  /// The rest of the lease of another member; nil where none runs.
  private var held: Duration? {
    guard let flight = entry?.flight, flight.holder != member, flight.leaseEnd > time else { return nil }
    return .milliseconds(flight.leaseEnd - time)
  }

  /// Whether a record may take the place of this one that follows a generation.
  ///
  /// An end is about the session whose token was refused: what has gone back is another one. The tokens that were lost when it
  /// did are the best that there is, until another member has written.
  private func mayFollow(_ generation: UInt64, isEnd: Bool) -> Bool {
    if isRolledBack { return isEarlier && !isEnd }
    return entry?.generation == generation || isOwn
  }

  private mutating func save(_ record: SessionRecord) throws(StoreFailure) {
    if let entry {
      if entry.generation >= record.generation { throw .superseded }
      if let followed = record.followed, !mayFollow(followed, isEnd: record.contents.isEnd) { throw .superseded }
    }
    // The member that has the lease may have been given the next refresh token: only it knows whether the session has ended.
    if record.contents.isEnd, let held { throw .held(for: held) }
    var plain = SessionContentsCoding.encode(record.contents)
    do throws(SecretMemoryExhausted) {
      entry = FleetEntry(
        generation: record.generation, contents: try Secret(wiping: &plain),
        clockAhead: clock.ahead(of: record.contents))
    } catch {
      wipe(&plain)
      throw .failed(context: "there is no room for secrets")
    }
  }

  private mutating func open(_ intent: RefreshIntent) throws(StoreFailure) {
    if isRolledBack { throw .failed(context: "the shared store has gone back to an earlier state; log in again") }
    guard let entry, entry.generation == intent.generation else { throw .superseded }
    if let held { throw .held(for: held) }
    // A lease that has run out is a lost reply, and no free lease: the token is sent again by a member that knows of that, and
    // of another's repetition.
    if let flight = entry.flight, flight.holder != member {
      guard intent.followsLostReply, intent.knowsRepetition || !flight.isReplay else { throw .superseded }
    }
    self.entry?.flight = FleetFlight(
      holder: member, startedAt: intent.startedAt, generation: intent.generation,
      leaseEnd: time + Int64(lease.components.seconds * 1000))
  }
}

extension SessionRecord.Contents {
  /// Whether the session has ended by itself, as its provider has said.
  fileprivate var isEnd: Bool {
    switch self {
    case .ended, .reauthenticationRequired: true
    case .living, .signedOut: false
    }
  }
}

extension StoreStep {
  /// Whether it writes a record.
  var isRecord: Bool { if case .record = self { true } else { false } }
}
