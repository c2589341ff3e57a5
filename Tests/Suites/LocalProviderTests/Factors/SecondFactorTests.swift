import BrokerCore
import BrokerProtocol
import JSON
import SecretMemory
import TestSupport
import Testing

@testable import LocalProvider

/// Logins with each second factor.
@Suite(.standardTimeLimit) struct SecondFactorTests {
  @Test func `an account with the factor e-mail gets its code there`() async throws {
    try await ProviderFixture.run { fixture in
      _ = try await fixture.session(secondFactor: .email)
      let challenge = try await fixture.login()
      #expect(challenge.method == .email && challenge.maskedDestination == "a•••@example.com")
      #expect(challenge.otpLength == 6 && !challenge.backupCodesAllowed)
      #expect(try fixture.message().required("to").string() == "a@example.com")
      #expect(try fixture.message().required("method").string() == "email")
      let session = try await fixture.provider.verifyOTP(flow: challenge.flow, code: try fixture.sentCode())
      #expect(session.user?.email == "a@example.com" && session.user?.emailVerified == true)
    }
  }

  @Test func `an account with an app is sent nothing, and logs in with the code that the app shows`() async throws {
    try await ProviderFixture.run { fixture in
      let (_, app) = try await fixture.enrolled()
      let before = fixture.outbox
      let challenge = try await fixture.login()
      #expect(challenge.method == .totp && challenge.maskedDestination.isEmpty && challenge.otpLength == 6)
      #expect(challenge.expiresAt == fixture.clock.now + .seconds(300))
      #expect(fixture.outbox == before)
      #expect(
        await fixture.verify(challenge, try fixture.wrongCode(app)) == .refused(.otpInvalid, attemptsRemaining: 4))
      _ = try await fixture.provider.verifyOTP(flow: challenge.flow, code: try fixture.code(app))
    }
  }

  @Test(arguments: [(-2, false), (-1, true), (0, true), (1, true), (2, false)] as [(Int64, Bool)])
  func `a code of an app is right one step early or late`(_ step: Int64, _ isRight: Bool) async throws {
    try await ProviderFixture.run { fixture in
      let (_, app) = try await fixture.enrolled()
      fixture.clock.advance(.seconds(120))
      let challenge = try await fixture.login()
      let code = try fixture.code(app, step: step)
      // Two steps have the same code once in a million times.
      let accepted = try [-1, 0, 1].map { try fixture.code(app, step: $0) }
      let refusal = await fixture.verify(challenge, code)
      #expect((refusal == nil) == (isRight || accepted.contains(code)))
    }
  }

  @Test func `a code of an app, and every earlier one, is right once`() async throws {
    try await ProviderFixture.run { fixture in
      let (_, app) = try await fixture.enrolled()
      let first = try await fixture.login()
      _ = try await fixture.provider.verifyOTP(flow: first.flow, code: try fixture.code(app))
      let second = try await fixture.login()
      for step in [0, -1] as [Int64] {
        let code = try fixture.code(app, step: step)
        #expect(await fixture.verify(second, code)?.kind == .otpInvalid)
      }
      // What was accepted last is in the database.
      await fixture.provider.shutDown()
      #expect(await fixture.verify(second, try fixture.code(app))?.kind == .otpInvalid)
      #expect(await fixture.verify(second, try fixture.code(app, step: 1)) == nil)
    }
  }

  @Test func `of a hundred logins at once with one code of an app one succeeds`() async throws {
    try await ProviderFixture.run { fixture in
      let (_, app) = try await fixture.enrolled()
      let challenge = try await fixture.login()
      let code = try fixture.code(app)
      #expect(try await Self.successes(of: 100) { await fixture.verify(challenge, code) } == 1)
    }
  }

  @Test func `of a hundred logins at once with one sent code one succeeds`() async throws {
    try await ProviderFixture.run { fixture in
      let challenge = try await fixture.challenge()
      let code = try fixture.sentCode()
      #expect(try await Self.successes(of: 100) { await fixture.verify(challenge, code) } == 1)
    }
  }

  @Test func `of a hundred logins at once with one backup code one succeeds`() async throws {
    try await ProviderFixture.run { fixture in
      let session = try await fixture.session(secondFactor: .email)
      let code = try #require(try await fixture.backupCodes(session).first)
      let challenge = try await fixture.login()
      #expect(try await Self.successes(of: 100) { await fixture.verify(challenge, backupCode: code) } == 1)
      #expect(try await fixture.login().backupCodesAllowed)
      #expect(try await fixture.number("SELECT count(*) FROM backup_code WHERE used_at IS NOT NULL") == 1)
    }
  }

  @Test func `no other code is sent where an app makes them`() async throws {
    try await ProviderFixture.run { fixture in
      _ = try await fixture.enrolled()
      let challenge = try await fixture.login()
      fixture.clock.advance(.seconds(60))
      let refused = await failure { () throws(ProviderFailure) in
        try await fixture.provider.resendOTP(flow: challenge.flow)
      }
      #expect(refused == .unsupported)
    }
  }

  @Test func `another code goes by the other channel where the account has both, and counts on`() async throws {
    try await ProviderFixture.run { fixture in
      let (session, provider) = (try await fixture.proven(), fixture.provider)
      #expect(try await fixture.login("b@example.com").channels == [], "the address is not proven")
      // Its first code proves the address, and the number stays proven.
      try await fixture.prove(try await fixture.update(#"{"twoFactor":"email"}"#, session))
      let challenge = try await fixture.login("b@example.com")
      #expect(challenge.method == .email && challenge.channels == [.sms, .email])
      let first = try fixture.sentCode()
      #expect(await fixture.verify(challenge, try fixture.wrongCode())?.kind == .otpInvalid)
      fixture.clock.advance(.seconds(30))
      let renewed = try await provider.resendOTP(flow: challenge.flow, by: .sms)
      #expect(renewed.method == .sms && renewed.maskedDestination == "+49 ••• ••67" && renewed.attemptsRemaining == 4)
      #expect(try fixture.message().required("method").string() == "sms")
      let second = try fixture.sentCode()
      if first != second {
        #expect(await fixture.verify(challenge, first) == .refused(.otpInvalid, attemptsRemaining: 3))
      }
      #expect(await fixture.verify(renewed, second) == nil)
      #expect(try fixture.subjects.allSatisfy { $0 != "Your login code" })
    }
  }

  @Test func `a code goes nowhere that is not proven, and by one channel where that is configured`() async throws {
    for offers in [true, false] {
      try await ProviderFixture.run {
        $0.otp.offersOtherChannel = offers
      } _: { fixture in
        let session = try await fixture.proven()
        if !offers { try await fixture.prove(try await fixture.update(#"{"twoFactor":"email"}"#, session)) }
        let challenge = try await fixture.login("b@example.com")
        fixture.clock.advance(.seconds(30))
        for channel in [OTPChallenge.Method.sms, .email, .totp] where channel != challenge.method {
          let refused = await failure { () throws(ProviderFailure) in
            try await fixture.provider.resendOTP(flow: challenge.flow, by: channel)
          }
          #expect(refused == .unsupported, "\(channel)")
        }
      }
    }
  }

  @Test func `wrong codes of an app end the login, and count against the account`() async throws {
    try await ProviderFixture.run { fixture in
      let (_, app) = try await fixture.enrolled()
      let challenge = try await fixture.login()
      let wrong = try fixture.wrongCode(app)
      for remaining in [4, 3, 2, 1] {
        #expect(await fixture.verify(challenge, wrong) == .refused(.otpInvalid, attemptsRemaining: remaining))
      }
      #expect(await fixture.verify(challenge, wrong) == .refused(.tooManyAttempts, retryAfter: .seconds(4)))
      #expect(await fixture.verify(challenge, try fixture.code(app)) == .refused(.flowNotFound))
      #expect(try await fixture.provider.auditEvents().count { $0 == "codeRefused" } == 5)
    }
  }

  @Test func `an account that was sent as much as it may be gets no other code, and its last one stays good`()
    async throws
  {
    let limits: (inout LocalProviderConfiguration) -> Void = { $0.messageLimits.perHour = 2 }
    try await ProviderFixture.run(limits) { fixture in
      _ = try await fixture.proven()
      let challenge = try await fixture.login("b@example.com")
      fixture.clock.advance(.seconds(30))
      let resent = await failure { () throws(ProviderFailure) in
        try await fixture.provider.resendOTP(flow: challenge.flow)
      }
      #expect(resent == .refused(.rateLimited, retryAfter: .seconds(3570)))
      #expect(await fixture.verify(challenge, try fixture.sentCode()) == nil)
    }
  }

  /// How many of as many equal calls at once succeed.
  private static func successes(
    of count: Int, _ call: @escaping @Sendable () async -> ProviderFailure?
  ) async throws -> Int {
    await withTaskGroup(of: Bool.self) { group in
      for _ in 1...count { group.addTask { await call() == nil } }
      return await group.reduce(into: 0) { $0 += $1 ? 1 : 0 }
    }
  }
}
