import HTTP
import TestSupport
import Testing

@testable import Doors

/// The bodies that pass a door, between its two ends.
@Suite(.standardTimeLimit) struct DoorFlowTests {
  /// What the HTTP client takes next, with room for so many bytes; nil at the end.
  private static func take(_ count: Int, from flow: DoorFlow) -> [UInt8]? {
    var mayFollow = false
    let piece = [UInt8](unsafeUninitializedCapacity: count) { buffer, filled in
      var room = unsafe OutputSpan(buffer: buffer, initializedCount: 0)
      mayFollow = flow.fill(&room)
      filled = unsafe room.finalize(for: buffer)
    }
    return piece.isEmpty && !mayFollow ? nil : piece
  }

  @Test func `a client that is always ahead takes no more room, and each byte passes once`() {
    let flow = DoorFlow(held: nil)
    var (given, taken): ([UInt8], [UInt8]) = ([], [])
    for round in 0..<500 {
      let piece = (0..<flow.bodyRoom).map { UInt8(truncatingIfNeeded: $0 &* 7 &+ round) }
      #expect(!flow.give(piece[...], isLast: false))
      given += piece
      taken += Self.take(999, from: flow) ?? []
      #expect(flow.heldCount <= 1 << 17)
    }
    #expect(!flow.give([], isLast: true) && flow.bodyRoom == 0)
    while let piece = Self.take(5000, from: flow) { taken += piece }
    #expect(taken == given)
  }

  @Test func `a body that is held is given whole, and one that comes is waited for`() {
    let held = DoorFlow(held: [1, 2, 3])
    #expect(Self.take(2, from: held) == [1, 2] && Self.take(2, from: held) == [3])
    #expect(Self.take(2, from: held) == nil && held.bodyRoom == 0)
    let coming = DoorFlow(held: nil)
    #expect(Self.take(2, from: coming) == [])
    #expect(coming.give([4], isLast: true), "the HTTP client waits")
    #expect(Self.take(2, from: coming) == [4] && Self.take(2, from: coming) == nil)
  }

  @Test func `an answer waits until its client has taken what came before`() {
    let flow = DoorFlow(held: nil)
    let piece = [UInt8](repeating: 1, count: 1 << 16)
    #expect(flow.take(piece.span) == .taken && flow.take(piece.span) == .taken && flow.take(piece.span) == .later)
    let arrival = flow.takeArrival()
    #expect(arrival.piece.count == 2 << 16 && arrival.mustResume)
    #expect(flow.take(piece.span) == .taken && !flow.takeArrival().mustResume)
    // One that is longer than the room passes by itself.
    #expect(flow.take([UInt8](repeating: 1, count: 1 << 18).span) == .taken)
  }
}
