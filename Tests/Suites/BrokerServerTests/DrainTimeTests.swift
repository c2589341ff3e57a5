import TestSupport
import Testing

@testable import BrokerServer

/// How long a server that ends waits, on a clock that a test sets.
@Suite(.standardTimeLimit) struct DrainTimeTests {
  private let begin = Duration.seconds(1000)

  /// Looks at the right time, over and over; says after how long it is not waited any more, by a clock that counts
  /// everything.
  private func length(
    awaiting: Duration = .zero, _ standstills: [(at: Duration, length: Duration)] = []
  ) -> Duration {
    var time = DrainTime(from: begin)
    var (now, awaitedUntil) = (begin, begin + awaiting)
    var rest = standstills
    while true {
      now += DrainTime.interval
      if let first = rest.first, now >= begin + first.at {
        now += first.length
        awaitedUntil += first.length
        rest.removeFirst()
      }
      if !time.goesOn(at: now, isAwaiting: now < awaitedUntil) { return now - begin }
    }
  }

  @Test func `requests and what is to be saved have 5 seconds, answers that come only once 25`() {
    #expect(length() == .seconds(5))
    #expect(length(awaiting: .seconds(60)) == .seconds(25))
    // What the last answer has brought is saved.
    #expect(length(awaiting: .seconds(24)) == .seconds(24) - DrainTime.interval + DrainTime.patience)
  }

  @Test(arguments: [Duration.seconds(20), .seconds(30), .seconds(3600)])
  func `time in which the process stood still does not count`(_ standstill: Duration) {
    let all = standstill
    #expect(length([(.seconds(2), all)]) == .seconds(5) + all)
    #expect(length(awaiting: .seconds(60), [(.seconds(2), all)]) == .seconds(25) + all)
    #expect(length(awaiting: .seconds(60), [(.seconds(2), all), (.seconds(40), all)]) == .seconds(25) + all * 2)
    #expect(length(awaiting: .seconds(10), [(.seconds(2), all)]) < .seconds(15) + all)
  }

  @Test func `a look that is a little late on a busy machine counts`() {
    #expect(length(awaiting: .seconds(60), [(.seconds(2), .milliseconds(500))]) <= .milliseconds(25_250))
  }

  @Test func `the rest is told by what is waited for`() {
    let time = DrainTime(from: begin)
    #expect(time.rest(at: begin + .seconds(1), isAwaiting: true) == .seconds(24))
    #expect(time.rest(at: begin + .seconds(1), isAwaiting: false) == .seconds(4))
    #expect(time.rest(at: begin + .seconds(60), isAwaiting: true) == .zero)
  }
}
