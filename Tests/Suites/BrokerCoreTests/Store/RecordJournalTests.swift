import BrokerProtocol
import Synchronization
import TestSupport
import Testing

@testable import BrokerCore

/// Who waits for which record, and which is saved once more.
@Suite(.standardTimeLimit) struct RecordJournalTests {
  private static let profile = ProfileName.default

  private static func record(_ generation: UInt64) -> SessionRecord {
    SessionRecord(
      profile: profile, binding: ProviderBinding(type: "scripted"), generation: generation,
      contents: .signedOut(at: Timestamp(milliseconds: 0)))
  }

  private static func retry(_ generation: UInt64, failures: Int = 1, _ cancelled: Cancelled) -> SaveRetry {
    SaveRetry(
      record: record(generation), events: [], failures: failures,
      timer: TimerCancellation { cancelled.note(generation) })
  }

  /// For how many the waiting for a record ends.
  private static func count(_ journal: inout RecordJournal, _ generation: UInt64, isSaved: Bool) -> Int {
    journal.takeSettlements(of: record(generation), isSaved: isSaved).count
  }

  @Test func `a durable record lets everyone go on who waits for it or for one before it, once`() {
    var journal = RecordJournal()
    for generation in [1, 2, 2, 3] as [UInt64] { journal.await(Self.profile, generation, .logout(1, Self.profile)) }
    let counts = ([2, 2, 3] as [UInt64]).map { Self.count(&journal, $0, isSaved: true) }
    #expect(counts == [3, 0, 1])
  }

  @Test func `a record that failed is waited for by its own alone`() {
    var journal = RecordJournal()
    for generation in [1, 2, 3] as [UInt64] { journal.await(Self.profile, generation, .logout(1, Self.profile)) }
    let counts = (Self.count(&journal, 2, isSaved: false), Self.count(&journal, 3, isSaved: true))
    #expect(counts == (1, 2))
  }

  @Test func `who waits for a record that another one takes the place of waits for that`() {
    var journal = RecordJournal()
    for generation in [1, 2] as [UInt64] { journal.await(Self.profile, generation, .logout(1, Self.profile)) }
    journal.postpone(Self.record(1), to: 2)
    let counts = (Self.count(&journal, 1, isSaved: true), Self.count(&journal, 2, isSaved: false))
    #expect(counts == (0, 2))
  }

  @Test func `one retry waits for each profile, and a durable record that is as new ends it`() {
    let cancelled = Cancelled()
    var journal = RecordJournal()
    journal.retry(Self.retry(1, cancelled))
    journal.retry(Self.retry(2, failures: 2, cancelled))
    #expect(cancelled.all == [1] && !journal.isSaved)
    #expect(journal.failures(of: Self.record(2)) == 2 && journal.failures(of: Self.record(3)) == 0)
    let isNews = (journal.noteProblem(of: Self.profile), journal.noteProblem(of: Self.profile))
    #expect(isNews == (true, false))
    let isOver = (journal.noteSaved(Self.record(1)), journal.isSaved)
    #expect(!isOver.0 && !isOver.1)
    let isOverNow = (journal.noteSaved(Self.record(2)), journal.isSaved)
    #expect(isOverNow.0 && isOverNow.1 && cancelled.all == [1, 2])
  }

  @Test func `a retry is begun once`() {
    let cancelled = Cancelled()
    var journal = RecordJournal()
    journal.retry(Self.retry(1, cancelled))
    let (first, second) = (journal.beginRetry(of: Self.profile), journal.beginRetry(of: Self.profile))
    #expect(first?.record.generation == 1 && second == nil)
    #expect(!journal.isSaved && cancelled.all == [1])
  }
}

/// The timers that were cancelled.
private final class Cancelled: Sendable {
  private let generations = Mutex<[UInt64]>([])

  /// Their generations, in order.
  var all: [UInt64] { generations.withLock { $0 } }

  func note(_ generation: UInt64) { generations.withLock { $0.append(generation) } }
}
