import LinuxSystem
import TestSupport
import Testing

/// No machine is suspended for a test: what is seen of one that is awake is that nothing happens.
@Suite(.standardTimeLimit) struct SleepTimeTests {
  @Test func `a machine that is awake sleeps no longer than it has slept`() throws {
    let first = try #require(SleepTime.now)
    for _ in 1...1000 {
      let now = try #require(SleepTime.now)
      #expect(now - first < .milliseconds(5) && first - now < .milliseconds(5))
    }
  }
}
