import TestSupport
import Testing

@testable import BrokerCore

/// The sequences that the store has promised, and the order of actions.
@Suite(.standardTimeLimit) struct SequenceReservationTests {
  @Test func `a block is reserved before half of one is left, one at a time`() {
    var reservation = SequenceReservation()
    reservation.open(through: SequenceReservation.block)
    let half = SequenceReservation.block / 2
    let end = half + 1 + SequenceReservation.block
    let blocks = [half, half + 1, half + 2].map { reservation.begin(after: $0) }
    #expect(blocks == [nil, end, nil])
    reservation.finish(through: end)
    let next = reservation.begin(after: half + 2)
    #expect(next == nil && reservation.through == end)
  }

  @Test func `a store that refuses is asked again, and what it had promised stays`() {
    var reservation = SequenceReservation()
    reservation.open(through: 5)
    let first = reservation.begin(after: 3)
    reservation.finish(through: nil)
    let second = reservation.begin(after: 4)
    #expect(first != nil && second == 4 + SequenceReservation.block && reservation.through == 5)
  }

  @Test func `what an action causes comes behind what was decided before it`() {
    var line = ActionLine<Int>()
    var done: [Int] = []
    var begins = [line.add([1, 2])]
    while let action = line.next() {
      done.append(action)
      // The actions are being carried out: the caller of `add` does not begin.
      if action == 1 { begins.append(line.add([3])) }
    }
    begins.append(line.add([4]))
    #expect(done == [1, 2, 3] && begins == [true, false, true])
  }
}
