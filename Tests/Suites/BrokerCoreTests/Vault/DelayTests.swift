import BrokerCore
import BrokerProtocol
import TestSupport
import Testing

/// The two waits that grow with failures.
@Suite(.standardTimeLimit) struct DelayTests {
  @Test func `each wrong passphrase in a row is answered later, to a bound`() {
    var delay = PassphraseDelay()
    let time = Timestamp(milliseconds: 1_000_000)
    let waits = (1...12).map { _ in delay.noteFailure(at: time) }
    #expect(Array(waits.prefix(5)) == [100, 200, 400, 800, 1600].map { .milliseconds($0) })
    #expect(waits[6] == .milliseconds(6400) && waits[7] == .seconds(10) && waits[11] == .seconds(10))
    for _ in 0..<100 { #expect(delay.noteFailure(at: time) == .seconds(10)) }
    delay.noteSuccess()
    #expect(delay.noteFailure(at: time) == .milliseconds(100))
  }

  @Test func `what is left of a delay after a restart is never more than the delay`() {
    let time = Timestamp(milliseconds: 1_000_000)
    let delay = PassphraseDelay(after: PassphraseFailures(count: 5, lastAt: time))
    #expect(delay.remaining(at: time) == .milliseconds(1600))
    #expect(delay.remaining(at: time + .milliseconds(1000)) == .milliseconds(600))
    #expect(delay.remaining(at: time + .seconds(9)) == .zero)
    #expect(delay.remaining(at: Timestamp(milliseconds: 0)) == .milliseconds(1600))
    #expect(PassphraseDelay().remaining(at: time) == .zero)
    for count in [-1, .min, .max] {
      var strange = PassphraseDelay(after: PassphraseFailures(count: count, lastAt: time))
      #expect(strange.remaining(at: time) <= .seconds(10))
      #expect(strange.noteFailure(at: time) <= .seconds(10))
    }
  }

  @Test func `a save is tried again after a tenth of a second, and at least every half minute`() {
    #expect(SaveBackoff.delay(afterFailures: 1) == .milliseconds(100))
    #expect(SaveBackoff.delay(afterFailures: 4) == .milliseconds(800))
    #expect(SaveBackoff.delay(afterFailures: 9) == .milliseconds(25_600))
    #expect(SaveBackoff.delay(afterFailures: 10) == .seconds(30))
    #expect(SaveBackoff.delay(afterFailures: Int.max) == .seconds(30))
  }
}
