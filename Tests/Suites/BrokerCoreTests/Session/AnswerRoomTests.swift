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
      #expect(added.number == number && added.evicted.isEmpty)
    }
  }

  @Test func `the oldest leave as soon as there is no room, as many as must`() throws {
    var room = AnswerRoom()
    let (small, half) = (try answer(1), try answer(AnswerRoom.capacity / 2))
    let quarter = try answer(AnswerRoom.capacity / 4)
    for _ in 1...3 { #expect(room.add(small, of: slot).evicted.isEmpty) }
    let other = SlotID(profile: .default, number: 2)
    #expect(room.add(half, of: other).evicted.isEmpty && room.add(quarter, of: slot).evicted.isEmpty)
    // Three of the smallest blocks too many.
    #expect(room.add(quarter, of: slot).evicted.map(\.number) == [1, 2, 3])
    let next = room.add(small, of: slot)
    #expect(next.evicted.map(\.number) == [4] && next.evicted.map(\.slot) == [other])
    #expect(next.evicted.map(\.byteCount) == [AnswerRoom.capacity / 2])
  }

  @Test func `an answer counts for the block that it takes`() throws {
    var room = AnswerRoom()
    let answer = try answer(2049)
    let count = AnswerRoom.capacity / 2048
    var left = 0
    for _ in 0..<count { left += room.add(answer, of: slot).evicted.count }
    #expect(left == count / 2)
  }

  @Test func `an answer that has no room at all leaves at once`() throws {
    var room = AnswerRoom()
    _ = room.add(try answer(1), of: slot)
    let added = room.add(try answer(AnswerRoom.capacity + 1), of: slot)
    #expect(added.evicted.map(\.number) == [1, added.number])
    #expect(room.add(try answer(AnswerRoom.capacity), of: slot).evicted.isEmpty)
  }

  @Test func `however many come and go, each leaves once, in order`() throws {
    var room = AnswerRoom()
    let eighth = try answer(AnswerRoom.capacity / 8)
    var left: [UInt64] = []
    for _ in 0..<1000 { left += room.add(eighth, of: slot).evicted.map(\.number) }
    #expect(left == Array(1...992))
  }
}
