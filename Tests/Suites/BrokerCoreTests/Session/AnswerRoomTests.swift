import BrokerProtocol
import SecretMemory
import TestSupport
import Testing

@testable import BrokerCore

/// The memory of the rendered answers is bounded, and the oldest give way.
@Suite(.standardTimeLimit) struct AnswerRoomTests {
  /// Rendered answers lie in another arena here than those of a broker, so that the tests beside this one have room.
  private let arena = SecretArena(capacity: 4 * AnswerRoom.capacity)
  private let slot = SlotID(profile: .default, number: 1)

  private func answer(_ byteCount: Int) throws -> Secret { try Secret(byteCount: byteCount, in: arena) { _ in } }

  @Test func `answers get numbers in turn, and none leaves while there is room`() throws {
    var room = AnswerRoom()
    let quarter = try answer(AnswerRoom.capacity / 4)
    for number in 1...4 as ClosedRange<UInt64> {
      let added = room.add(quarter, of: slot)
      #expect(added.number == number && added.leaving.isEmpty)
    }
  }

  @Test func `the oldest leave as soon as there is no room, as many as must`() throws {
    var room = AnswerRoom()
    let (small, large) = (try answer(1), try answer(AnswerRoom.capacity - 2))
    for _ in 1...3 { #expect(room.add(small, of: slot).leaving.isEmpty) }
    let other = SlotID(profile: .default, number: 2)
    // One byte too many.
    #expect(room.add(large, of: other).leaving.map(\.number) == [1])
    #expect(room.add(small, of: slot).leaving.map(\.number) == [2])
    let next = room.add(large, of: slot)
    #expect(next.leaving.map(\.number) == [3, 4])
    #expect(next.leaving.map(\.slot) == [slot, other])
    #expect(next.leaving.map(\.byteCount) == [1, AnswerRoom.capacity - 2])
  }

  @Test func `an answer that has no room at all leaves at once`() throws {
    var room = AnswerRoom()
    _ = room.add(try answer(1), of: slot)
    let added = room.add(try answer(AnswerRoom.capacity + 1), of: slot)
    #expect(added.leaving.map(\.number) == [1, added.number])
    #expect(room.add(try answer(AnswerRoom.capacity), of: slot).leaving.isEmpty)
  }

  @Test func `however many come and go, each leaves once, in order`() throws {
    var room = AnswerRoom()
    let eighth = try answer(AnswerRoom.capacity / 8)
    var left: [UInt64] = []
    for _ in 0..<1000 { left += room.add(eighth, of: slot).leaving.map(\.number) }
    #expect(left == Array(1...992))
  }
}
