import BrokerCore
import BrokerProtocol
import Fleet
import TestSupport
import Testing

/// Ends of sessions, and what they may be written over.
extension FleetStoreTests {
  /// The end of a session that rests under a generation.
  private func end(of generation: UInt64) -> SessionRecord {
    var end = SessionRecord(
      profile: .default, binding: Self.binding, generation: 9,
      contents: .ended(.refreshRejected, at: Timestamp(milliseconds: 9)))
    end.followed = generation
    return end
  }

  @Test func `an end is about the session whose token was refused`() async throws {
    let (one, two) = (member(), member())
    try await one.commit([.record(record(1))])
    let other = try record(2, "r2")
    try await one.commit([.record(other)])
    // Also where what has come in between was shown meanwhile.
    #expect(try await two.load().records == [other])
    await #expect(throws: StoreFailure.superseded) { try await two.commit([.record(end(of: 1))]) }
    #expect(try await two.load().records == [other])
    try await two.commit([.record(end(of: 2))])
  }

  @Test func `an end is not written over what has gone back`() async throws {
    let one = member()
    try await one.commit([.record(record(1))])
    let backup = try await place.read().rows
    try await one.commit([.record(record(2, "r2"))])
    place.restore(backup)
    // Another session has come under the same generation.
    for generation in [1, 2] as [UInt64] {
      await #expect(throws: StoreFailure.superseded) { try await one.commit([.record(end(of: generation))]) }
    }
    try await member().commit([.record(record(2, "another r2"))])
    await #expect(throws: StoreFailure.superseded) { try await one.commit([.record(end(of: 2))]) }
  }

  @Test func `a refusal ends no session whose token another member is spending, and a logout does`() async throws {
    let (one, two) = (member(), member())
    try await one.commit([.record(record(1))])
    try await one.commit([intent(1)])
    var end = try record(2)
    end.contents = .ended(.refreshRejected, at: Timestamp(milliseconds: 9))
    let ended = end
    await #expect(throws: StoreFailure.held(for: .milliseconds(Self.lease))) { try await two.commit([.record(ended)]) }
    end.contents = .signedOut(at: Timestamp(milliseconds: 9))
    try await two.commit([.record(end)])
    #expect(try await one.load().records == [end])
  }
}
