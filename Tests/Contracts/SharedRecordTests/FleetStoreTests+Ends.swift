import BrokerCore
import BrokerProtocol
import Fleet
import Synchronization
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
    for generation in [1, 2] as [UInt64] {
      await #expect(throws: StoreFailure.superseded) { try await one.commit([.record(end(of: generation))]) }
    }
    // Nor over another session that has come under the same generation.
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

  @Test(arguments: [MemoryRecord.Loss.question, .answer])
  func `a record may follow one of its own whose write had no answer`(_ loss: MemoryRecord.Loss) async throws {
    let (one, two) = (member(), member())
    try await one.commit([.record(record(1))])
    place.lossOfOne.withLock { $0 = loss }
    await #expect(throws: StoreFailure.self) { try await one.commit([.record(record(2, "r2"))]) }
    place.lossOfOne.withLock { $0 = nil }
    var next = try record(3, "r3")
    next.followed = 1
    try await one.commit([.record(next)])
    next.followed = nil
    #expect(try await two.load().records == [next])
  }

  @Test func `tokens are not written over what another member has written meanwhile`() async throws {
    let (one, two) = (member(), member())
    try await one.commit([.record(record(1))])
    var late = try record(5, "late")
    late.followed = 1
    let unwritten = late
    try await two.commit([.record(record(2, "a login"))])
    await #expect(throws: StoreFailure.superseded) { try await one.commit([.record(unwritten)]) }
  }

  @Test(arguments: [false, true])
  func `the tokens that were lost when the store went back take their place again, unless another member has written`(
    _ hasOtherWritten: Bool
  ) async throws {
    let one = member()
    try await one.commit([.record(record(1))])
    let backup = try await place.read().rows
    try await one.commit([.record(record(2, "r2"))])
    place.restore(backup)
    if hasOtherWritten {
      // A later version goes with a later time.
      place.clock.add(2, ordering: .relaxed)
      var logout = try record(2)
      logout.contents = .signedOut(at: Timestamp(milliseconds: 9))
      try await member().commit([.record(logout)])
    }
    var next = try record(3, "r3")
    next.followed = 2
    let tokens = next
    if hasOtherWritten {
      await #expect(throws: StoreFailure.superseded) { try await one.commit([.record(tokens)]) }
    } else {
      try await one.commit([.record(tokens)])
    }
  }
}
