import BrokerCore
import BrokerProtocol
import SecretMemory
import TestSupport
import Testing

@testable import LocalProvider

/// How many messages one account causes.
@Suite(.standardTimeLimit) struct MessageLimitTests {
  private func login(_ fixture: ProviderFixture, _ email: String = "b@example.com") async throws -> ProviderFailure? {
    let credentials = try fixture.credentials(email)
    return await failure { () throws(ProviderFailure) in try await fixture.provider.login(credentials) }
  }

  @Test func `an account is sent ten codes in an hour, however it asks for them`() async throws {
    try await ProviderFixture.run { fixture in
      let challenge = try await fixture.challenge()
      fixture.clock.advance(.seconds(30))
      _ = try await fixture.provider.resendOTP(flow: challenge.flow)
      #expect(await fixture.verify(challenge, try fixture.sentCode()) == nil)
      fixture.clock.advance(.seconds(170))
      for _ in 3...10 { #expect(try await login(fixture) == nil) }
      #expect(fixture.outbox == ["00000010.json"])
      let pending = try fixture.sentCode()
      #expect(try await login(fixture) == .refused(.rateLimited, retryAfter: .seconds(3400)))
      #expect(try fixture.sentCode() == pending, "the last code stays good")
      // Another account is none the worse for it.
      _ = try await fixture.challenge("c@example.com", phone: "+4915112345678")
      fixture.clock.advance(.seconds(3400))
      #expect(try await login(fixture) == nil)
      #expect(try await login(fixture) == .refused(.rateLimited, retryAfter: .seconds(30)))
    }
  }

  @Test func `a day has a limit of its own, and both come from the configuration`() async throws {
    let limits: (inout LocalProviderConfiguration) -> Void = {
      $0.messageLimits.perHour = 2
      $0.messageLimits.perDay = 3
    }
    try await ProviderFixture.run(limits) { fixture in
      _ = try await fixture.proven()
      #expect(try await login(fixture) == nil)
      #expect(try await login(fixture) == .refused(.rateLimited, retryAfter: .seconds(3600)))
      fixture.clock.advance(.seconds(3600))
      #expect(try await login(fixture) == nil)
      fixture.clock.advance(.seconds(3600))
      #expect(try await login(fixture) == .refused(.rateLimited, retryAfter: .seconds(79_200)))
      await fixture.provider.shutDown()
      fixture.clock.advance(.seconds(79_200))
      #expect(try await login(fixture) == nil)
      #expect(try await fixture.number("SELECT count(*) FROM sent_code") == 2)
    }
  }

  @Test func `tokens for forgotten passwords and all other messages take nothing from each other`() async throws {
    try await ProviderFixture.run { fixture in
      _ = try await fixture.proven()
      // A third of ten an hour, however often a stranger asks.
      for _ in 1...5 { try await fixture.provider.forgotPassword(email: "b@example.com") }
      #expect(fixture.outbox == ["00000004.json"])
      for _ in 2...10 { #expect(try await login(fixture) == nil) }
      #expect(try await login(fixture) == .refused(.rateLimited, retryAfter: .seconds(3600)))
      #expect(fixture.outbox == ["00000004.json", "00000013.json"])
    }
  }

  @Test func `an account that is sent no other code can have its password reset, and is sent codes again`()
    async throws
  {
    let limit: (inout LocalProviderConfiguration) -> Void = { $0.messageLimits.perHour = 1 }
    try await ProviderFixture.run(limit) { fixture in
      let challenge = try await fixture.challenge()
      #expect(await fixture.verify(challenge, try fixture.sentCode()) == nil)
      #expect(try await login(fixture) == .refused(.rateLimited, retryAfter: .seconds(3600)))
      for _ in 1...2 { try await fixture.provider.forgotPassword(email: "b@example.com") }
      #expect(fixture.outbox == ["00000002.json"])
      let (token, password) = (try fixture.sentToken(), try Secret(utf8: "another real password"))
      try await fixture.provider.resetPassword(token: token, newPassword: password)
      let credentials = try fixture.credentials("b@example.com", password: "another real password")
      _ = try await fixture.provider.login(credentials).challenge
    }
  }

  @Test func `a clock that was ahead keeps nobody waiting`() async throws {
    let limit: (inout LocalProviderConfiguration) -> Void = { $0.messageLimits.perHour = 1 }
    try await ProviderFixture.run(limit) { fixture in
      fixture.clock.advance(.seconds(1_000_000))
      _ = try await fixture.proven()
      #expect(try await login(fixture) == .refused(.rateLimited, retryAfter: .seconds(3600)))
      fixture.clock.advance(.seconds(-1_000_000))
      #expect(try await login(fixture) == nil)
    }
  }

  @Test func `a password is taken again once the wait is over, however often wrong ones were tried`() async throws {
    try await ProviderFixture.run { fixture in
      _ = try await fixture.session()
      let wrong = try fixture.credentials(password: "another password")
      for _ in 1...30 {
        _ = await failure { () throws(ProviderFailure) in try await fixture.provider.login(wrong) }
        fixture.clock.advance(ThrottleTable.longestDelay)
      }
      _ = try await fixture.provider.login(fixture.credentials()).session
    }
  }
}
