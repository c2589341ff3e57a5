import BrokerCore
import BrokerProtocol
import Fleet
import Sealing
import SecretMemory
import Synchronization
import TestSupport
import Testing

/// The sessions of a fleet: one flight for all members, whatever becomes of one of them.
@Suite(.standardTimeLimit) struct FleetStoreTests {
  let place = MemoryRecord()
  let key: SealingKey
  static let binding = ProviderBinding(type: "rest", issuer: "https://api.example.com")
  /// The lease of a member.
  static let lease: Int64 = 40_000

  init() async throws {
    try Sealing.initialize()
    key = try SealingKey.random()
    let row = try FleetKey.make(fleet: "f", under: key)
    #expect(try await place.write(row, as: FleetKey.rowName, from: nil, to: 1) == true)
  }

  /// A member, by the key of the fleet unless its own file has another one.
  func member(
    _ binding: ProviderBinding = Self.binding, _ problems: Problems = Problems(), file: KeyFile? = nil,
    of profile: ProfileName = .default, at clock: SetClock = SetClock(), boot: String? = nil
  ) -> FleetStore {
    let file = file ?? KeyFile(key)
    return FleetStore(
      place, fleet: "f", bindings: [profile: binding], pollInterval: nil, key: { .success(file.key) },
      now: { clock.now }, boot: boot, report: { problems.add($0) })
  }

  func record(_ generation: UInt64, _ token: String = "r1", of profile: ProfileName = .default) throws -> SessionRecord
  {
    let tokens = TokenSet(
      accessToken: try Secret(utf8: "a"), accessTokenExpiresAt: nil, refreshToken: try Secret(utf8: token))
    let session = LivingSession(
      tokens: tokens, user: nil, authTime: Timestamp(milliseconds: 1), issuedAt: Timestamp(milliseconds: 1),
      lastValidatedAt: Timestamp(milliseconds: 1))
    return SessionRecord(
      profile: profile, binding: Self.binding, generation: generation, contents: .living(session))
  }

  func intent(_ generation: UInt64, at time: Int64 = 5, knowsRepetition: Bool = false) -> StoreStep {
    .openIntent(
      RefreshIntent(
        profile: .default, generation: generation, startedAt: Timestamp(milliseconds: time),
        knowsRepetition: knowsRepetition))
  }

  @Test func `what one member saves the other ones read`() async throws {
    let (one, two) = (member(), member())
    #expect(try await two.load().records.isEmpty)
    let record = try record(1)
    try await one.commit([.record(record)])
    #expect(try await two.load().records == [record])
  }

  @Test func `one member alone has the right to spend a token, and the others are told for how long`() async throws {
    let (one, two) = (member(), member())
    try await one.commit([.record(record(1))])
    try await one.commit([intent(1)])
    await #expect(throws: StoreFailure.held(for: .milliseconds(Self.lease))) { try await two.commit([intent(1)]) }
    // It is not shown before the lease is over, and its holder may open it again.
    #expect(try await two.load().intents.isEmpty)
    try await one.commit([intent(1)])
    try await one.commit([.closeIntent(.default)])
    try await two.commit([intent(1)])
  }

  @Test func `an intent whose write had no answer is taken back: nothing was sent by it`() async throws {
    let (one, two) = (member(), member())
    try await one.commit([.record(record(1))])
    place.lossOfOne.withLock { $0 = .answer }
    await #expect(throws: StoreFailure.self) { try await one.commit([intent(1)]) }
    place.lossOfOne.withLock { $0 = nil }
    await #expect(throws: StoreFailure.held(for: .milliseconds(Self.lease))) { try await two.commit([intent(1)]) }
    #expect(try await one.load().intents.isEmpty)
    try await two.commit([intent(1)])
  }

  @Test(arguments: [MemoryRecord.Loss.question, .answer])
  func `an intent in the place of a lost reply is none that can be taken back`(_ loss: MemoryRecord.Loss) async throws {
    let one = member()
    try await one.commit([.record(record(1))])
    try await one.commit([intent(1, at: 5)])
    place.lossOfOne.withLock { $0 = loss }
    await #expect(throws: StoreFailure.self) { try await one.commit([intent(1, at: 0)]) }
    place.lossOfOne.withLock { $0 = nil }
    #expect(try await one.load().intents.count == 1)
  }

  @Test func `a lease that has run out is a lost reply, and no free lease`() async throws {
    let (one, two) = (member(), member())
    try await one.commit([.record(record(1))])
    try await one.commit([intent(1)])
    place.clock.add(Self.lease, ordering: .relaxed)
    #expect(try await two.load().intents.count == 1)
    await #expect(throws: StoreFailure.superseded) { try await two.commit([intent(1)]) }
  }

  @Test func `a lost reply is sent again by a member that knows how often that was done`() async throws {
    let (one, two, three) = (member(), member(), member())
    try await one.commit([.record(record(1))])
    try await one.commit([intent(1)])
    place.clock.add(Self.lease, ordering: .relaxed)
    for member in [two, three] { #expect(try await member.load().intents.map(\.followsLostReply) == [false]) }
    try await two.commit([intent(1, at: 0)])
    place.clock.add(Self.lease, ordering: .relaxed)
    await #expect(throws: StoreFailure.superseded) { try await three.commit([intent(1, at: 0)]) }
    let intents = try await three.load().intents
    #expect(intents.map(\.followsLostReply) == [true] && intents.map(\.isAnothers) == [true])
    // To have been shown it is not enough: the reading may have been dropped.
    await #expect(throws: StoreFailure.superseded) { try await three.commit([intent(1, at: 0)]) }
    try await three.commit([intent(1, at: 0, knowsRepetition: true)])
    // Who has sent it last may do so again.
    try await three.commit([intent(1, at: 0)])
  }

  @Test func `a late success is kept where no other member has advanced`() async throws {
    let (one, two) = (member(), member())
    try await one.commit([.record(record(1))])
    try await one.commit([intent(1)])
    place.clock.add(Self.lease, ordering: .relaxed)
    let next = try record(2, "r2")
    try await one.commit([.record(next)])
    let contents = try await two.load()
    #expect(contents.records == [next] && contents.intents.isEmpty)
    await #expect(throws: StoreFailure.superseded) { try await two.commit([.record(record(2, "r3"))]) }
    await #expect(throws: StoreFailure.superseded) { try await two.commit([intent(1)]) }
  }

  @Test func `a store that has gone back stops refreshing until a record takes its place`() async throws {
    let (one, two) = (member(), member())
    try await one.commit([.record(record(1))])
    let backup = try await place.read().rows
    try await one.commit([.record(record(2, "r2"))])
    _ = try await two.load()
    place.restore(backup)
    for member in [one, two] {
      let contents = try await member.load()
      #expect(contents.rolledBack.keys.contains(.default) && contents.records.isEmpty)
      await #expect(throws: StoreFailure.self) { try await member.commit([intent(1)]) }
    }
    let login = try record(3, "r3")
    try await one.commit([.record(login)])
    let contents = try await two.load()
    #expect(contents.rolledBack.isEmpty && contents.records == [login])
    try await two.commit([intent(3)])
  }

  @Test func `another record in the place of one that was seen shows that the store has gone back`() async throws {
    let (one, two) = (member(), member())
    try await one.commit([.record(record(1))])
    let backup = try await place.read().rows
    try await one.commit([.record(record(2, "r2"))])
    place.restore(backup)
    // This member has never seen what is gone, and goes on from what is there.
    try await two.commit([.record(record(2, "another r2"))])
    #expect(try await one.load().rolledBack.keys.contains(.default))
    await #expect(throws: StoreFailure.self) { try await one.commit([intent(2)]) }
    // An older record under a newer version.
    let three = member()
    try await three.commit([intent(2)])
    try await three.commit([.closeIntent(.default)])
    #expect(try await one.load().rolledBack.keys.contains(.default))
    try await three.commit([.record(record(3, "r3"))])
    let contents = try await one.load()
    #expect(try contents.rolledBack.isEmpty && contents.records == [record(3, "r3")])
  }

  @Test func `a record that is gone has gone back as well`() async throws {
    let one = member()
    try await one.commit([.record(record(1))])
    place.restore(try await place.read().rows.filter { $0.key == FleetKey.rowName })
    #expect(try await one.load().rolledBack.keys.contains(.default))
  }

  @Test func `a member with another provider neither opens nor writes the session`() async throws {
    let problems = Problems()
    let other = member(ProviderBinding(type: "rest", issuer: "https://other.example.com"), problems)
    try await member().commit([.record(record(1))])
    let before = try await place.read().rows
    let found = try await other.load().records
    #expect(found.map(\.contents) == [.signedOut(at: Timestamp(milliseconds: 0))])
    await #expect(throws: StoreFailure.self) { try await other.commit([.record(record(2))]) }
    #expect(try await place.read().rows == before && problems.all == [.otherBinding(.default)])
  }

  @Test func `a row that was exchanged, or is an earlier one, does not open`() async throws {
    let (one, two) = (member(), member())
    try await one.commit([.record(record(1))])
    let old = try #require(try await place.read().rows["default"])
    try await one.commit([.record(record(2, "r2"))])
    var rows = try await place.read().rows
    // An earlier record under the number of a later one; a bit of it.
    rows["default"]?.bytes = old.bytes
    for position in [nil, 3, old.bytes.count - 1] {
      if let position { rows["default"]?.bytes[position] ^= 1 }
      place.restore(rows)
      #expect(try await two.load().tampered == [.default])
      await #expect(throws: StoreFailure.tampered(profile: .default)) { try await two.commit([intent(2)]) }
    }
  }

  @Test func `the database has no token, and another key opens nothing`() async throws {
    let problems = Problems()
    try await member().commit([.record(record(1, "a token that is long enough to be found"))])
    for row in try await place.read().rows.values {
      #expect(!String(decoding: row.bytes, as: UTF8.self).contains("token"))
    }
    let stranger = member(Self.binding, problems, file: KeyFile(try SealingKey.random()))
    for _ in 0..<3 { await #expect(throws: StoreFailure.self) { try await stranger.load() } }
    #expect(problems.all == [.unreachable("store.key is not the key of the fleet")])
  }

  @Test func `a place that is away is reported once, and once that it is back`() async throws {
    let problems = Problems()
    let one = member(Self.binding, problems)
    try await one.commit([.record(record(1))])
    place.isAway = true
    for _ in 0..<3 { await #expect(throws: StoreFailure.self) { try await one.load() } }
    await #expect(throws: StoreFailure.self) { try await one.commit([intent(1)]) }
    place.isAway = false
    _ = try await one.load()
    #expect(problems.all == [.unreachable("the place is away"), .reachable])
  }

  @Test func `of fifty members at one instant one has the lease`() async throws {
    let members = (0..<50).map { _ in member() }
    try await members[0].commit([.record(record(1))])
    let intent = intent(1)
    let counts = await withTaskGroup(of: Bool.self) { group in
      for member in members { group.addTask { (try? await member.commit([intent])) != nil } }
      return await group.reduce(into: 0) { $0 += $1 ? 1 : 0 }
    }
    #expect(counts == 1)
  }
}

/// The problems that a member has reported.
final class Problems: Sendable {
  private let list = Mutex<[FleetStore.Problem]>([])

  /// All of them, in order.
  var all: [FleetStore.Problem] { list.withLock { $0 } }

  /// Takes one in.
  func add(_ problem: FleetStore.Problem) { list.withLock { $0.append(problem) } }
}

/// The file of one machine with the key of the fleet.
final class KeyFile: Sendable {
  private let content: Mutex<SealingKey>

  /// The key; it may be replaced.
  var key: SealingKey {
    get { content.withLock { $0 } }
    set { content.withLock { $0 = newValue } }
  }

  /// A file with a key.
  init(_ key: SealingKey) { content = Mutex(key) }
}
