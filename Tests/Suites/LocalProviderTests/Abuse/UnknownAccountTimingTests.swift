import BrokerCore
import BrokerProtocol
import LinuxSystem
import Sealing
import SecretMemory
import TestSupport
import Testing

@testable import LocalProvider

/// What the time of an answer tells of whether there is an account for an address.
@Suite(.standardTimeLimit, .plainBuild) struct UnknownAccountTimingTests {
  /// What is asked of the provider about an address.
  enum Question: CaseIterable {
    case login, forgotPassword
    /// While the token of the time before is still good.
    case forgotPasswordAgain

    /// How long the clock is set forward before a pair, so that no limit of the pair before holds.
    var pause: Duration {
      switch self {
      case .login: ThrottleTable.longestDelay
      case .forgotPassword: MailToken.Purpose.reset.lifetime + .seconds(1)
      case .forgotPasswordAgain: .seconds(10)
      }
    }

    /// Asks it, and tells how long the answer took.
    func ask(_ fixture: ProviderFixture, _ email: String) async throws -> Duration {
      let wrong = try fixture.credentials(email, password: "not the password of anyone")
      let start = BootClock.now
      switch self {
      case .login:
        let answer = await failure { () throws(ProviderFailure) in try await fixture.provider.login(wrong) }
        #expect(answer == .refused(.invalidCredentials))
      case .forgotPassword, .forgotPasswordAgain: try await fixture.provider.forgotPassword(email: email)
      }
      return BootClock.now - start
    }
  }

  private static let pairs = 200

  /// Enough work that its variance is that of a real one, and little enough for four hundred.
  private static let work = PasswordHash.Parameters(passes: 1, memoryKiB: 4096)

  @Test(arguments: Question.allCases)
  func `a known and an unknown account differ by less than the noise`(_ question: Question) async throws {
    let adjust = { (configuration: inout LocalProviderConfiguration) in
      configuration.messageLimits.perHour = 1000
      configuration.messageLimits.perDay = 10_000
    }
    try await ProviderFixture.run(adjust, work: Self.work) { fixture in
      _ = try await fixture.session("known@example.com")
      var random = SeededGenerator(seed: 1)
      var differences: [Double] = []
      for _ in 1...Self.pairs {
        fixture.clock.advance(question.pause)
        // The first call after a pause removes what has expired: it is none of the pair.
        _ = try await fixture.provider.users()
        var times: [String: Duration] = [:]
        for email in ["known@example.com", "unknown@example.com"].shuffled(using: &random) {
          times[email] = try await question.ask(fixture, email)
        }
        let known = try #require(times["known@example.com"])
        differences.append((known - (try #require(times["unknown@example.com"]))) / .milliseconds(1))
      }
      differences.sort()
      let median = differences[Self.pairs / 2]
      let spread = differences[Self.pairs * 3 / 4] - differences[Self.pairs / 4]
      let slower = differences.count { $0 > 0 }
      let found = "median \(median) ms, spread \(spread) ms, the known one slower in \(slower) pairs"
      #expect(abs(median) < spread, "\(found)")
    }
  }
}
