import BrokerCore
import BrokerProtocol
import SecretMemory
import TestSupport

@testable import LocalProvider

/// Someone who has the password of an account and guesses its codes as fast as the provider lets them, for as long as it
/// takes.
struct GuessingAttacker {
  private let fixture: ProviderFixture
  private let credentials: Credentials
  private var random: SeededGenerator
  /// When each code was compared.
  private(set) var guesses: [Timestamp] = []
  /// How many of them were right.
  private(set) var successes = 0

  /// An attacker whose guesses are the same for the same seed.
  init(_ fixture: ProviderFixture, seed: UInt64) throws {
    self.fixture = fixture
    credentials = try fixture.credentials()
    random = SeededGenerator(seed: seed)
  }

  /// Begins one login after the other until so many codes were compared.
  ///
  /// - Throws: what the provider answers to a guess or a login that is not due to its limits.
  mutating func guess(_ count: Int) async throws {
    while guesses.count < count {
      do throws(ProviderFailure) {
        let outcome = try await fixture.provider.login(credentials)
        if case .otpRequired(let challenge) = outcome { try await guess(at: challenge) }
      } catch .refused(.tooManyAttempts, nil, let wait?, nil), .refused(.rateLimited, nil, let wait?, nil) {
        fixture.clock.advance(wait)
      }
    }
  }

  /// Guesses until the login ends.
  private mutating func guess(at challenge: ProviderChallenge) async throws(ProviderFailure) {
    while true {
      let code = nextCode(digits: challenge.otpLength)
      guesses.append(fixture.clock.now)
      do throws(ProviderFailure) {
        _ = try await fixture.provider.verifyOTP(flow: challenge.flow, code: code)
        successes += 1
        return
      } catch .refused(.otpInvalid, _?, nil, nil) {
        continue
      }
    }
  }

  private mutating func nextCode(digits: Int) -> Secret {
    let text = (0..<digits).map { _ in String(UInt8.random(in: 0...9, using: &random)) }.joined()
    return (try? Secret(utf8: text)) ?? .empty
  }
}
