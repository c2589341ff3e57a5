import ProviderKit
import TestSupport
import Testing

/// When a reading request is sent again.
@Suite(.standardTimeLimit) struct ReadRepetitionTests {
  @Test(arguments: [
    (1, 0.0, 250), (1, 1.0, 500), (2, 0.0, 500), (2, 0.5, 750), (2, 1.0, 1000), (1, -3, 250), (1, 9, 500),
  ])
  func `each pause is twice as long as the one before, and half of it is chance`(
    _ failures: Int, _ jitter: Double, _ milliseconds: Int
  ) {
    #expect(ReadRepetition.pause(afterFailures: failures, jitter: jitter) == .milliseconds(milliseconds))
  }

  @Test func `all pauses together are short for a person who waits`() {
    let longest = (1..<ReadRepetition.attempts).reduce(Duration.zero) {
      $0 + ReadRepetition.pause(afterFailures: $1, jitter: 1)
    }
    #expect(longest < .seconds(2))
  }
}
