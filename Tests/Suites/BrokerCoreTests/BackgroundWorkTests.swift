import TestSupport
import Testing

@testable import BrokerCore

/// What runs apart from the loop, as a value.
@Suite(.standardTimeLimit) struct BackgroundWorkTests {
  @Test func `work is under way until the last call and the last poll are over`() {
    var work = BackgroundWork(on: nil)
    #expect(!work.isUnderWay)
    work.beginCall()
    work.beginPoll()
    work.beginPoll()
    work.endCall()
    #expect(work.isUnderWay && work.calls == 0, "a lock need not wait for a poll")
    work.endPoll()
    #expect(work.isUnderWay)
    work.endPoll()
    #expect(!work.isUnderWay)
  }

  @Test func `answers that come only once are those of polls and of calls that spend something`() {
    var work = BackgroundWork(on: nil)
    work.beginCall()
    #expect(work.awaitedOnce == 0)
    work.beginCall(.spent)
    work.beginPoll()
    #expect(work.awaitedOnce == 2 && work.calls == 2)
    work.endCall()
    work.endPoll()
    #expect(work.awaitedOnce == 1)
    work.endCall(.spent)
    #expect(work.awaitedOnce == 0 && !work.isUnderWay)
  }
}
