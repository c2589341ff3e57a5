import BrokerCore
import BrokerProtocol
import Sealing
import Synchronization
import Testing

@testable import Fleet

/// Another key for a fleet whose members go on.
extension FleetStoreTests {
  /// Changes the key, with nothing to wait for.
  @discardableResult
  private func rekey(to new: SealingKey? = nil) async throws -> FleetRekey.Report {
    try await FleetRekey("f", under: key, to: new).run(in: place) { place.clock.add(1000, ordering: .relaxed) }
  }

  /// The change that somebody makes at once.
  private func plan(to new: SealingKey? = nil) async throws -> FleetRekey.Plan {
    try FleetRekey("f", under: key, to: new).plan(try await place.read())
  }

  @Test func `members follow another key, whether they read or write next`() async throws {
    let problems = Problems()
    let (one, two, three) = (member(), member(Self.binding, problems), member())
    try await one.commit([.record(record(1))])
    for member in [two, three] { _ = try await member.load() }
    let before = try await place.read().rows
    #expect(try await rekey() == FleetRekey.Report(sealed: ["default"]))
    let after = try await place.read().rows
    #expect(after.allSatisfy { $0.value.version > (before[$0.key]?.version ?? 0) })
    // It reads, it writes, and it comes later.
    let found = try await two.load()
    #expect(try found.records == [record(1)] && found.rolledBack.isEmpty && found.tampered.isEmpty)
    try await three.commit([intent(1)])
    try await three.commit([.record(record(2, "r2"))])
    for member in [one, two, member()] {
      let contents = try await member.load()
      #expect(try contents.records == [record(2, "r2")] && contents.rolledBack.isEmpty && contents.tampered.isEmpty)
    }
    #expect(problems.all.isEmpty)
  }

  @Test func `records of profiles that are configured elsewhere are sealed again`() async throws {
    let other = ProviderBinding(type: "oidc", issuer: "https://id.example.com token=/t", clientID: "c")
    let profile = try #require(ProfileName("other"))
    let session = try SessionRecord(
      profile: profile, binding: other, generation: 3, contents: record(3, of: profile).contents)
    try await member(other, of: profile).commit([.record(session)])
    try await member().commit([.record(record(1))])
    #expect(try await rekey() == FleetRekey.Report(sealed: ["default", "other"]))
    #expect(try await member(other, of: profile).load().records == [session])
    #expect(try await member(Self.binding, of: profile).load().records.map(\.binding.type) == [""])
  }

  @Test func `a flight that is under way goes on under the new key`() async throws {
    let (one, two) = (member(), member())
    try await one.commit([.record(record(1))])
    try await one.commit([intent(1)])
    try await rekey()
    await #expect(throws: StoreFailure.held(for: .milliseconds(Self.lease))) { try await two.commit([intent(1)]) }
    #expect(try await two.load().intents.isEmpty)
    try await one.commit([.record(record(2, "r2"))])
    #expect(try await two.load().records == [record(2, "r2")])
    // One whose member is gone is a lost reply, as ever.
    try await one.commit([intent(2)])
    try await rekey()
    place.clock.add(Self.lease, ordering: .relaxed)
    #expect(try await two.load().intents.map(\.generation) == [2])
    await #expect(throws: StoreFailure.superseded) { try await two.commit([intent(2)]) }
  }

  @Test func `a first record that is written meanwhile is under the key of then`() async throws {
    let (one, two) = (member(), member())
    #expect(try await one.load().records.isEmpty)
    try await rekey()
    let change = try await plan()
    place.interruption.withLock { $0 = { [place] in place.put(change.changes) } }
    try await one.commit([.record(record(1))])
    let contents = try await two.load()
    #expect(try contents.records == [record(1)] && contents.tampered.isEmpty)
  }

  @Test func `a login in the place of a damaged record is sealed under the key of now`() async throws {
    let (one, two) = (member(), member())
    try await one.commit([.record(record(1))])
    _ = try await two.load()
    var rows = try await place.read().rows
    let last = try #require(rows["default"]?.bytes.indices.last)
    rows["default"]?.bytes[last] ^= 1
    place.restore(rows)
    #expect(try await rekey().damaged == ["default"])
    try await two.commit([.record(record(2, "r2"))])
    let contents = try await member().load()
    #expect(try contents.records == [record(2, "r2")] && contents.tampered.isEmpty)
  }

  @Test func `what a member writes meanwhile is sealed again as well`() async throws {
    let one = member()
    try await one.commit([.record(record(1))])
    let row = try #require(try await place.read().rows["default"])
    let before = FleetCoding(
      fleet: "f", seal: try FleetKey(try await place.read().rows[""]?.bytes ?? [], fleet: "f", under: key).seal)
    let entry = try before.decode(row, of: .default, Self.binding)
    let other = SharedWrite(
      before.encode(entry, of: .default, Self.binding, version: row.version + 7), as: "default", from: row.version,
      to: row.version + 7)
    place.interruption.withLock { $0 = { [place] in place.put([other]) } }
    try await rekey()
    #expect(try await place.read().rows["default"]?.bytes != other.bytes)
    #expect(try await one.load().records == [record(1)])
  }

  @Test func `a member without the new key is offline, and goes on once it has it`() async throws {
    let (problems, next) = (Problems(), try SealingKey.random())
    let (late, ready) = (KeyFile(key), KeyFile(key))
    let (one, two) = (member(Self.binding, problems, file: late), member(file: ready))
    try await one.commit([.record(record(1))])
    try await two.commit([intent(1)])
    try await two.commit([.closeIntent(.default)])
    try await rekey(to: next)
    ready.key = next
    #expect(try await two.load().records == [record(1)])
    for _ in 0..<2 {
      await #expect(throws: StoreFailure.self) { try await one.load() }
      await #expect(throws: StoreFailure.self) { try await one.commit([intent(1)]) }
      await #expect(throws: StoreFailure.self) { try await one.commit([.record(record(2))]) }
    }
    #expect(problems.all == [.unreachable("store.key is not the key of the fleet")])
    late.key = next
    #expect(try await one.load().records == [record(1)])
    try await one.commit([intent(1)])
    #expect(problems.all == [.unreachable("store.key is not the key of the fleet"), .reachable])
  }

  @Test func `another store.key waits for the leases that run`() async throws {
    let next = try SealingKey.random()
    let one = member()
    try await one.commit([.record(record(1))])
    try await one.commit([intent(1)])
    let begin = place.clock.load(ordering: .relaxed)
    try await rekey(to: next)
    #expect(place.clock.load(ordering: .relaxed) - begin == Self.lease)
    // A member that refreshes all the time keeps it away.
    let two = member(file: KeyFile(next))
    #expect(try await two.load().intents.count == 1)
    try await two.commit([intent(1, at: 0)])
    let again = FleetRekey("f", under: next, to: key)
    await #expect(throws: FleetRekey.Failure.refused(.init("a refresh is under way all the time; try again"))) {
      try await again.run(in: place) {
        place.clock.add(1000, ordering: .relaxed)
        try? await two.commit([intent(1, at: 0)])
      }
    }
    #expect(try await two.load().records.map(\.generation) == [1])
  }

  @Test func `a record that nobody can open is named, and a login takes its place`() async throws {
    let one = member()
    try await one.commit([.record(record(1))])
    try await member(Self.binding, of: ProfileName("p") ?? .default).commit([
      .record(record(4, of: ProfileName("p") ?? .default))
    ])
    var rows = try await place.read().rows
    rows["default"]?.bytes[60] ^= 1
    rows["no name!"] = SharedRow(version: 3, bytes: rows["p"]?.bytes ?? [])
    place.restore(rows)
    #expect(try await rekey() == FleetRekey.Report(sealed: ["p"], damaged: ["default", "no name!"]))
    let two = member()
    #expect(try await two.load().tampered == [.default])
    await #expect(throws: StoreFailure.tampered(profile: .default)) { try await two.commit([intent(1)]) }
    try await two.commit([.record(record(2, "r2"))])
    #expect(try await one.load().records == [record(2, "r2")])
  }

  @Test func `a row from before does not open, and a backup from before has gone back`() async throws {
    let one = member()
    try await one.commit([.record(record(1))])
    let backup = try await place.read().rows
    try await rekey()
    _ = try await one.load()
    var rows = try await place.read().rows
    let after = rows
    rows["default"] = SharedRow(version: 9, bytes: backup["default"]?.bytes ?? [])
    place.restore(rows)
    #expect(try await one.load().tampered == [.default])
    place.restore(backup)
    let contents = try await one.load()
    #expect(contents.rolledBack.keys.contains(.default) && contents.tampered.isEmpty && contents.records.isEmpty)
    await #expect(throws: StoreFailure.self) { try await one.commit([intent(1)]) }
    place.restore(after)
    #expect(try await one.load().records == [record(1)])
  }

  @Test func `a lost answer leaves no doubt, and a change that comes late changes nothing`() async throws {
    try await member().commit([.record(record(1))])
    place.loss.withLock { $0 = .answer }
    let before = try await place.read().rows[FleetKey.rowName]
    try await rekey()
    #expect(try await place.read().rows[FleetKey.rowName]?.bytes != before?.bytes)
    place.loss.withLock { $0 = .question }
    let late = try await plan()
    await #expect(throws: FleetRekey.Failure.refused(.init("no answer in time"))) { try await rekey() }
    #expect(!place.put(late.changes))
    place.interruption.withLock { $0 = { [place] in place.isAway = true } }
    await #expect(throws: FleetRekey.Failure.unknown(.init("the place is away"))) { try await rekey() }
    place.isAway = false
    #expect(try await member().load().records == [record(1)])
  }

  @Test func `a record of a newer version, and another key, are refused`() async throws {
    try await member().commit([.record(record(1))])
    await #expect(throws: FleetRekey.Failure.refused(.init("store.key is not the key of the fleet"))) {
      try await FleetRekey("f", under: try SealingKey.random(), to: nil).run(in: place) {}
    }
    var rows = try await place.read().rows
    rows["default"]?.bytes[0] = 2
    place.restore(rows)
    let sentence = "the record of default is of a newer version; update authbroker here"
    await #expect(throws: FleetRekey.Failure.refused(.init(sentence))) { try await rekey() }
    #expect(try await place.read().rows == rows)
  }
}
