import BrokerCore
import BrokerProtocol
import Fleet
import Synchronization
import Testing

/// The clock of a machine that has run for 100 seconds, and may be set.
final class SetClock: Sendable {
  private let wall: Mutex<Int64>

  /// A clock that shows so many milliseconds since 1970: those of the place, unless it is wrong.
  init(_ wall: Int64 = 1_000_000) { self.wall = Mutex(wall) }

  /// Sets it.
  func set(_ time: Int64) { wall.withLock { $0 = time } }

  /// The moment that it shows.
  var now: Moment { Moment(wall: Timestamp(milliseconds: wall.withLock { $0 }), uptime: .seconds(100)) }
}

/// The times of members whose clocks are wrong.
extension FleetStoreTests {
  @Test func `the times of a member whose clock is wrong are read by the clock of the store`() async throws {
    let (one, two) = (member(at: SetClock(9_000_000)), member())
    var record = try record(1)
    guard case .living(var session) = record.contents else {
      Issue.record("the record has no session")
      return
    }
    session.tokens.accessTokenExpiresAt = Timestamp(milliseconds: 9_060_000)
    session.issuedAt = Timestamp(milliseconds: 9_000_000)
    record.contents = .living(session)
    let written = record
    try await one.commit([.record(written)])
    #expect(try await one.load().records == [written])
    guard case .living(let read)? = try await two.load().records.first?.contents else {
      Issue.record("the other member has no session")
      return
    }
    #expect(read.tokens.accessTokenExpiresAt == Timestamp(milliseconds: 1_060_000))
    #expect(read.issuedAt == Timestamp(milliseconds: 1_000_000) && read.authTime == session.authTime)
  }

  @Test func `the start of another member's flight is told by the clock of the store alone`() async throws {
    let (one, two) = (member(), member(at: SetClock(9_000_000)))
    try await one.commit([.record(record(1))])
    try await one.commit([intent(1, at: 5)])
    place.clock.add(Self.lease + 1000, ordering: .relaxed)
    #expect(try await two.load().intents.map(\.startedAt.milliseconds) == [9_000_000 - Self.lease - 1000])
    #expect(try await one.load().intents.map(\.startedAt.milliseconds) == [5])
    // That a token may have been spent before is said by its time alone.
    try await one.commit([intent(1, at: 0)])
    place.clock.add(Self.lease, ordering: .relaxed)
    #expect(try await two.load().intents.map(\.startedAt.milliseconds) == [0])
  }

  /// A session whose tokens came at a time by the clock of a machine, which the provider's was ahead of by so much.
  private func record(at time: Int64, boot: String, providerAhead: Duration) throws -> SessionRecord {
    var record = try record(1)
    guard case .living(var session) = record.contents else { return record }
    session.tokens.accessTokenExpiresAt = Timestamp(milliseconds: time + 60_000)
    session.issuedAt = Timestamp(milliseconds: time)
    session.lastUsedUptime = .seconds(99)
    session.clock = IssueClock(
      boot: boot, bootedAt: Timestamp(milliseconds: time - 100_000), providerAhead: providerAhead)
    record.contents = .living(session)
    return record
  }

  private func session(in contents: StoreContents) throws -> LivingSession {
    guard case .living(let session)? = contents.records.first?.contents else {
      throw SharedRecordFailure("there is no session")
    }
    return session
  }

  @Test(arguments: [1_000_000, 1_090_000, 4_600_000] as [Int64], [1_000_000, 1_090_000, 910_000] as [Int64])
  func `what another machine has written is by the present clock, and neither is taken for wrong`(
    _ writer: Int64, _ reader: Int64
  ) async throws {
    let one = member(at: SetClock(writer), boot: "one")
    let two = member(at: SetClock(reader), boot: "two")
    try await one.commit([.record(record(at: writer, boot: "one", providerAhead: .milliseconds(1_000_000 - writer)))])
    let read = try session(in: try await two.load())
    #expect(read.issuedAt.milliseconds == reader && read.tokens.accessTokenExpiresAt?.milliseconds == reader + 60_000)
    let clock = IssueClock(
      boot: "two", bootedAt: Timestamp(milliseconds: reader - 100_000), providerAhead: .milliseconds(1_000_000 - reader)
    )
    #expect(read.clock == clock && read.lastUsedUptime == nil)
  }

  @Test func `a session that is written again after its machine's clock was set is read as before`() async throws {
    let clock = SetClock()
    let (one, two) = (member(at: clock, boot: "one"), member(boot: "two"))
    let record = try record(at: 1_000_000, boot: "one", providerAhead: .zero)
    clock.set(9_000_000)
    try await one.commit([.record(record)])
    let read = try session(in: try await two.load())
    #expect(read.issuedAt.milliseconds == 1_000_000 && read.tokens.accessTokenExpiresAt?.milliseconds == 1_060_000)
    #expect(try session(in: try await one.load()).issuedAt.milliseconds == 1_000_000)
  }

  @Test func `where the clock of the store has gone back, no token lives longer than its lifetime`() async throws {
    let (one, two) = (member(boot: "one"), member(boot: "two"))
    try await one.commit([.record(record(at: 1_000_000, boot: "one", providerAhead: .zero))])
    // The time of the members is the same, and shown to be 50 seconds ahead of it.
    place.clock.store(950_000, ordering: .relaxed)
    let read = try session(in: try await two.load())
    #expect(read.issuedAt.milliseconds == 1_000_000 && read.tokens.accessTokenExpiresAt?.milliseconds == 1_060_000)
    #expect(read.clock?.providerAhead == .zero)
  }
}
