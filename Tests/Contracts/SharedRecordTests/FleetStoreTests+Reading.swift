import BrokerCore
import BrokerProtocol
import Fleet
import Synchronization
import Testing

/// Readings by known versions: they cost nothing at rest, and hide nothing.
extension FleetStoreTests {
  /// What a member finds that has taken up some contents.
  private func news(_ member: FleetStore, after contents: StoreContents) async throws -> StoreContents {
    try await member.load([KnownRecord(.default, version: contents.versions[.default])])
  }

  @Test func `what was taken up is not read again, and everything else is`() async throws {
    let (one, two) = (member(), member())
    let none = try await two.load()
    #expect(none.versions.isEmpty)
    try await one.commit([.record(record(1))])
    let first = try await news(two, after: none)
    #expect(try first.records == [record(1)] && first.versions[.default] != nil)
    // Neither the record nor the key of the fleet comes over.
    let rest = try await news(two, after: first)
    #expect(rest.records.isEmpty && rest.rolledBack.isEmpty && rest.tampered.isEmpty)
    #expect(place.lastRead.withLock { $0.rows.isEmpty && $0.gone.isEmpty })
    // A member that was given the record, and has not taken it up.
    #expect(try await two.load([KnownRecord(.default)]).records == first.records)
    try await one.commit([.record(record(2, "r2"))])
    #expect(try await news(two, after: first).records == [record(2, "r2")])
  }

  @Test func `a record with a flight is read until that is over`() async throws {
    let (one, two) = (member(), member())
    try await one.commit([.record(record(1))])
    let first = try await two.load()
    try await one.commit([intent(1)])
    let running = try await news(two, after: first)
    #expect(running.records.count == 1 && running.intents.isEmpty && running.versions.isEmpty)
    // Nothing is written when the lease runs out.
    place.clock.add(Self.lease, ordering: .relaxed)
    let over = try await news(two, after: running)
    #expect(over.intents.count == 1 && over.versions.isEmpty)
    try await one.commit([.closeIntent(.default)])
    #expect(try await news(two, after: over).versions[.default] != nil)
  }

  @Test func `a member's own write is read once`() async throws {
    let one = member()
    try await one.commit([.record(record(1))])
    let first = try await one.load()
    try await one.commit([.record(record(2, "r2"))])
    // It has not seen that this was written over: what it took up last is what a store has that went back.
    let backup = try await place.read().rows
    #expect(try await news(one, after: first).records == [record(2, "r2")])
    place.restore(backup.filter { $0.key == FleetKey.rowName })
    #expect(try await news(one, after: first).rolledBack.keys.contains(.default))
  }

  @Test func `a store that has gone back is found by what was known, whatever was written since`() async throws {
    let (one, two) = (member(), member())
    try await one.commit([.record(record(1))])
    let backup = try await place.read().rows
    let first = try await one.load()
    try await one.commit([.record(record(2, "r2"))])
    let second = try await one.load()
    place.restore(backup)
    // The version that this member took up first, and lost by a write of its own.
    #expect(try await news(one, after: first).rolledBack.keys.contains(.default))
    #expect(try await news(one, after: second).rolledBack.keys.contains(.default))
    // A write in the same instant of the clock gets another version than the one that was lost.
    try await two.commit([.record(record(2, "another r2"))])
    let contents = try await news(one, after: second)
    #expect(contents.rolledBack.keys.contains(.default) && contents.versions.isEmpty)
    // It is tried again as long as it is so, and is good once it is right.
    #expect(try await news(one, after: second).rolledBack.keys.contains(.default))
    try await two.commit([.record(record(3, "r3"))])
    #expect(try await news(one, after: second).records == [record(3, "r3")])
  }

  @Test func `a row that does not open is tried again`() async throws {
    let (one, two) = (member(), member())
    try await one.commit([.record(record(1))])
    let first = try await two.load()
    try await one.commit([.record(record(2, "r2"))])
    let good = try await place.read().rows
    var bad = good
    bad["default"]?.bytes[40] ^= 1
    place.restore(bad)
    for _ in 0..<2 {
      let contents = try await news(two, after: first)
      #expect(contents.tampered == [.default] && contents.versions.isEmpty)
    }
    place.restore(good)
    #expect(try await news(two, after: first).records == [record(2, "r2")])
  }

  @Test func `a row with the last version that there is refuses to be written`() async throws {
    let one = member()
    try await one.commit([.record(record(1))])
    var rows = try await place.read().rows
    rows["default"]?.version = .max
    place.restore(rows)
    await #expect(throws: StoreFailure.self) { try await one.commit([.record(record(2))]) }
  }

  @Test func `of writes those of records are told, and no intent`() async throws {
    let one = member()
    try await one.commit([.record(record(1))])
    place.told.withLock { $0 = [] }
    try await one.commit([intent(1)])
    try await one.commit([.closeIntent(.default)])
    #expect(place.told.withLock { $0 }.isEmpty)
    try await one.commit([.record(record(2))])
    #expect(place.told.withLock { $0 } == ["default"])
  }
}
