import BrokerProtocol
import TestSupport
import Testing

@testable import BrokerCore

/// Changes on their way to the store, and what waits for them, as a value.
@Suite(.standardTimeLimit) struct EventLogTests {
  private static let time = Timestamp(milliseconds: 1_800_000_000_000)
  private static let client = ClientID(1)
  private let note = StoreChange(.note, telling: [.userUpdated(UserUpdatedEvent(userID: "u"))], of: .default)
  private let step = StoreChange(.note, [.closeIntent(.default)], of: .default)

  private static func revocation(_ number: UInt64) -> Settlement {
    .revocation(PendingRevocation.ID(profile: .default, number: number))
  }

  private func open(after sequence: UInt64 = 10) -> EventLog {
    var log = EventLog()
    _ = log.open(StoreContents(records: [], lastSequence: sequence), reserved: nil)
    _ = Self.perform(&log)
    _ = log.hub.subscribe(Self.client, SubscriptionHub.Wish())
    return log
  }

  /// Takes everything out that is to be done, in words.
  private static func perform(_ log: inout EventLog) -> [String] {
    var words: [String] = []
    while let action = log.next() {
      switch action {
      case .commit(let steps): words.append("commit \(steps.count)")
      case .deliver(_, let deliveries): words.append("deliver " + deliveries.map { "\($0.event.sequence)" }.joined())
      case .settle(.revocation(let id), let failure):
        words.append("settle \(id.number)\(failure == nil ? "" : " failed")")
      case .settle: words.append("settle")
      }
    }
    return words
  }

  @Test func `what waits for a change is done once it is durable, before its event is told`() {
    var log = open()
    let isFirst = log.add(note, at: Self.time, then: Self.revocation(7))
    #expect(isFirst && Self.perform(&log) == ["commit 1"] && !log.isIdle)
    let isNext = log.finish(nil)
    #expect(isNext && Self.perform(&log) == ["settle 7", "deliver 11"] && log.isIdle)
  }

  @Test func `what waits for a change hears that the store has refused it`() {
    var log = open()
    _ = log.add(step, at: Self.time, then: Self.revocation(7))
    _ = Self.perform(&log)
    _ = log.finish(.locked)
    #expect(Self.perform(&log) == ["settle 7 failed"])
  }

  @Test func `changes from before the store is open are kept for then`() {
    var log = EventLog()
    _ = log.add(step, at: Self.time, then: Self.revocation(1))
    #expect(Self.perform(&log).isEmpty && !log.isOpen && log.beginReservation() == nil)
    _ = log.open(StoreContents(records: [], lastSequence: 10), reserved: nil)
    #expect(Self.perform(&log) == ["commit 1"] && log.isOpen)
  }

  @Test func `what is caused while actions are performed comes behind those that were decided before`() {
    var log = open()
    _ = log.add(note, at: Self.time, then: Self.revocation(1))
    _ = Self.perform(&log)
    _ = log.finish(nil)
    guard case .settle = log.next() else {
      Issue.record("nothing is settled")
      return
    }
    // They are being performed, and these with them.
    let isFirst = log.add(step, at: Self.time, then: Self.revocation(2))
    #expect(!isFirst && Self.perform(&log) == ["deliver 11", "commit 1"])
  }

  @Test func `the next block of sequences is reserved once, until that has ended`() {
    var log = open(after: 10)
    #expect(log.beginReservation() == 10 + SequenceReservation.block)
    #expect(log.beginReservation() == nil)
    log.finishReservation(through: nil)
    #expect(log.beginReservation() == 10 + SequenceReservation.block)
    log.finishReservation(through: 10 + SequenceReservation.block)
    #expect(log.beginReservation() == nil)
  }

  @Test func `that the store is suspect is news once, and again after it was closed`() {
    var log = EventLog()
    let tellings = (log.noteSuspicion(), log.noteSuspicion())
    #expect(tellings == (true, false))
    log.forgetSuspicion()
    let isNews = log.noteSuspicion()
    #expect(isNews)
  }
}
