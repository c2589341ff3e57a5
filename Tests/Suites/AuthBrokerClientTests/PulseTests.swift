import TestSupport
import Testing

@testable import AuthBrokerClient

/// How long a broker is waited for that says nothing.
@Suite(.standardTimeLimit) struct PulseTests {
  private static func at(_ seconds: Double) -> Duration { .seconds(1000) + .seconds(seconds) }

  private static func step(_ pulse: inout Pulse, _ seconds: Double, starts: Bool = false) -> Pulse.Step {
    pulse.step(at: at(seconds), mayBeStarting: starts)
  }

  @Test func `nothing was heard for 3 s, nor 2 s after a ping`() {
    var pulse = Pulse(at: Self.at(0))
    #expect(Self.step(&pulse, 2.9) == .wait)
    #expect(Self.step(&pulse, 3) == .ask)
    #expect(Self.step(&pulse, 4.9) == .wait)
    #expect(Self.step(&pulse, 5.1) == .end)
  }

  @Test func `a broker that lives is asked again after 30 s of silence`() {
    var pulse = Pulse(at: Self.at(0))
    #expect(Self.step(&pulse, 3) == .ask)
    pulse.beat(at: Self.at(3.1))
    #expect(Self.step(&pulse, 33) == .wait)
    #expect(Self.step(&pulse, 33.1) == .ask)
    #expect(Self.step(&pulse, 35.2) == .end)
  }

  @Test func `one that is just being started has a minute for its first word, and no more than others then`() {
    var pulse = Pulse(at: Self.at(0))
    #expect(Self.step(&pulse, 3, starts: true) == .ask)
    #expect(Self.step(&pulse, 59, starts: true) == .wait)
    #expect(Self.step(&pulse, 60, starts: true) == .end)
    pulse = Pulse(at: Self.at(0))
    pulse.beat(at: Self.at(1))
    #expect(Self.step(&pulse, 31, starts: true) == .ask)
    #expect(Self.step(&pulse, 33.1, starts: true) == .end)
  }

  @Test func `a machine that has slept gives the broker time to wake`() {
    var pulse = Pulse(at: Self.at(0))
    #expect(Self.step(&pulse, 3) == .ask)
    #expect(Self.step(&pulse, 600) == .wait)
    #expect(Self.step(&pulse, 602) == .end)
  }
}
