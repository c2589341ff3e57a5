import BrokerCore
import BrokerProtocol
import SQLite
import TestSupport
import Testing

@testable import LocalProvider

/// How often a code is guessed by someone who has the password and all the time in the world.
@Suite(.standardTimeLimit) struct GuessingTests {
  /// What an attacker may do, as the limits say.
  struct Policy: CustomTestStringConvertible, Sendable {
    let factor: SecondFactor
    /// How many codes of any day are compared.
    let guessesPerDay: Int
    /// How many more are, each time the count of failures begins: the first three logins come within minutes.
    let guessesAtOnce: Int
    var testDescription: String { factor.rawValue }
  }

  private static let day = Duration.seconds(86_400)
  /// Five guesses at each login, and a message for each.
  private static let bySMS = Policy(factor: .sms, guessesPerDay: 30 * 5, guessesAtOnce: 0)
  /// Five guesses at each login, and a quarter of an hour between two.
  private static let byApp = Policy(factor: .totp, guessesPerDay: 4 * 24 * 5, guessesAtOnce: 3 * 5)

  /// Of 10,000 guesses at a code in a million 0.01 are right on average, at an app's three steps 0.03: more than three are
  /// right once in 30 million runs (binomial distribution).
  private static let count = Patience.repetitions(10_000)
  private static let mostSuccesses = 3

  @Test(arguments: [bySMS, byApp])
  func `of 10,000 guesses no more are right than chance allows, and they take as long as the limits say`(
    _ policy: Policy
  ) async throws {
    try await ProviderFixture.run { fixture in
      if policy.factor == .totp {
        _ = try await fixture.enrolled()
      } else {
        _ = try await fixture.session(secondFactor: policy.factor)
      }
      try await fixture.provider.writeWithoutWaiting()
      var attacker = try GuessingAttacker(fixture, seed: 1)
      try await attacker.guess(Self.count)
      #expect(attacker.successes <= Self.mostSuccesses)
      let limit = policy.guessesPerDay + policy.guessesAtOnce * (1 + attacker.successes)
      #expect(Self.most(of: attacker.guesses, within: Self.day) <= limit)
      let refused = try await fixture.number("SELECT count(*) FROM audit WHERE event = 'codeRefused'")
      #expect(refused == Int64(attacker.guesses.count - attacker.successes), "each guess was compared and recorded")
    }
  }

  @Test func `the most of any period are found`() {
    let times = [0, 1, 5, 6, 10, 11].map { Timestamp(milliseconds: $0) }
    #expect(Self.most(of: times, within: .milliseconds(1)) == 1)
    #expect(Self.most(of: times, within: .milliseconds(2)) == 2)
    #expect(Self.most(of: times, within: .milliseconds(7)) == 4)
    #expect(Self.most(of: times, within: .milliseconds(100)) == 6)
  }

  /// How many of these times, which are in order, lie in the period that has the most of them; its end is not part of it.
  private static func most(of times: [Timestamp], within period: Duration) -> Int {
    var (first, most) = (0, 0)
    for (index, time) in times.enumerated() {
      while time - times[first] >= period { first += 1 }
      most = max(most, index - first + 1)
    }
    return most
  }
}

extension LocalProvider {
  /// Lets no commit wait for the disk any more: thousands of them are made, and no power fails.
  fileprivate func writeWithoutWaiting() throws(ProviderFailure) {
    try perform { database, _ in try database.connection.execute("PRAGMA synchronous = OFF") }
  }
}
