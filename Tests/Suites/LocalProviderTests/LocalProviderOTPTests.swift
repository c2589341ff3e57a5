import BrokerCore
import BrokerProtocol
import JSON
import SecretMemory
import TestSupport
import Testing

@testable import LocalProvider

@Suite(.standardTimeLimit) struct LocalProviderOTPTests {
  @Test func `a code from the outbox logs in, once`() async throws {
    try await ProviderFixture.run { fixture in
      let challenge = try await fixture.challenge()
      #expect(challenge.method == .sms)
      #expect(challenge.maskedDestination == "+49 ••• ••67")
      #expect(challenge.otpLength == 6)
      #expect(challenge.attemptsRemaining == 5)
      #expect(challenge.expiresAt == fixture.clock.now + .seconds(300))
      #expect(challenge.nextResendAt == fixture.clock.now + .seconds(30))
      let message = try fixture.message()
      #expect(try message.required("to").string() == "+491511234567")
      #expect(try message.required("method").string() == "sms")
      #expect(try message.required("createdAt").string() == fixture.clock.now.description)
      let code = try fixture.sentCode()
      #expect(code.byteCount == 6)
      #expect(try message.required("body").string().contains(try message.required("code").string()))
      let session = try await fixture.provider.verifyOTP(flow: challenge.flow, code: code)
      #expect(session.user?.phoneNumberMasked == "+49 ••• ••67")
      #expect(fixture.outbox.isEmpty)
      #expect(await verify(fixture, challenge, code) == .refused(.flowNotFound))
    }
  }

  @Test func `a login goes on after a restart`() async throws {
    try await ProviderFixture.run { fixture in
      let challenge = try await fixture.challenge()
      await fixture.provider.shutDown()
      let successor = fixture.successor()
      _ = try await successor.verifyOTP(flow: challenge.flow, code: try fixture.sentCode())
      await successor.shutDown()
    }
  }

  @Test func `five wrong codes close the login, and slow the next one down`() async throws {
    try await ProviderFixture.run { fixture in
      let challenge = try await fixture.challenge()
      let wrong = try fixture.wrongCode()
      let right = try fixture.sentCode()
      for remaining in [4, 3, 2, 1] {
        #expect(await verify(fixture, challenge, wrong) == .refused(.otpInvalid, attemptsRemaining: remaining))
      }
      #expect(await verify(fixture, challenge, wrong) == .refused(.tooManyAttempts, retryAfter: .seconds(4)))
      #expect(await verify(fixture, challenge, right) == .refused(.flowNotFound))
      #expect(fixture.outbox.isEmpty)
      let credentials = try fixture.credentials("b@example.com")
      let slowed = await failure { () throws(ProviderFailure) in try await fixture.provider.login(credentials) }
      #expect(slowed == .refused(.tooManyAttempts, retryAfter: .seconds(4)))
    }
  }

  @Test func `a code is answered only when its attempt is counted durably, also the right one`() async throws {
    try await ProviderFixture.run { fixture in
      let other = try await fixture.challenge("c@example.com")
      let challenge = try await fixture.challenge()
      let right = try fixture.sentCode()
      #expect(await verify(fixture, other, try fixture.wrongCode()) == .refused(.otpInvalid, attemptsRemaining: 4))
      // A second flow with one attempt cannot be written any more, as on a disk that fails.
      try await fixture.change("CREATE UNIQUE INDEX one_guess ON otp_flow (attempts) WHERE attempts > 0")
      let spoilt = fixture.successor()
      let uncounted = await failure { () throws(ProviderFailure) in
        try await spoilt.verifyOTP(flow: challenge.flow, code: right)
      }
      await spoilt.shutDown()
      #expect(uncounted == .transient(.providerUnavailable))
      try await fixture.change("DROP INDEX one_guess")
      let repaired = fixture.successor()
      _ = try await repaired.verifyOTP(flow: challenge.flow, code: right)
      await repaired.shutDown()
    }
  }

  @Test(arguments: ["", "12345", "1234567", "12345a", " 12345", "12345\n", "１２", "-12345"])
  func `input that cannot be a code is not counted`(input: String) async throws {
    try await ProviderFixture.run { fixture in
      let challenge = try await fixture.challenge()
      let code = try Secret(utf8: input)
      for _ in 1...10 {
        #expect(await verify(fixture, challenge, code) == .refused(.otpInvalid, attemptsRemaining: 5))
      }
      _ = try await fixture.provider.verifyOTP(flow: challenge.flow, code: try fixture.sentCode())
    }
  }

  @Test func `of 200 guesses at once five are compared`() async throws {
    try await ProviderFixture.run { fixture in
      let challenge = try await fixture.challenge()
      let wrong = try fixture.wrongCode()
      let provider = fixture.provider
      let failures = await withTaskGroup(of: ProviderFailure?.self) { group in
        for _ in 1...200 {
          group.addTask {
            await failure { () throws(ProviderFailure) in
              try await provider.verifyOTP(flow: challenge.flow, code: wrong)
            }
          }
        }
        return await group.reduce(into: []) { $0.append($1) }
      }
      let compared = failures.filter { $0 != .refused(.flowNotFound) }
      #expect(compared.count == 5)
      #expect(compared.contains(.refused(.tooManyAttempts, retryAfter: .seconds(4))))
      #expect(try await fixture.number("SELECT failures FROM throttle") == 5)
    }
  }

  @Test func `an attempt is counted in the database`() async throws {
    try await ProviderFixture.run { fixture in
      let challenge = try await fixture.challenge()
      _ = await verify(fixture, challenge, try fixture.wrongCode())
      #expect(try await fixture.number("SELECT attempts FROM otp_flow") == 1)
    }
  }

  @Test func `an ended code is refused and its message is gone`() async throws {
    try await ProviderFixture.run { fixture in
      let challenge = try await fixture.challenge()
      let code = try fixture.sentCode()
      fixture.clock.advance(.seconds(300))
      #expect(await verify(fixture, challenge, code) == .refused(.otpExpired))
      #expect(fixture.outbox.isEmpty)
      let resent = await failure { () throws(ProviderFailure) in
        try await fixture.provider.resendOTP(flow: challenge.flow)
      }
      #expect(resent == .refused(.otpExpired))
      fixture.clock.advance(.seconds(4000))
      #expect(await verify(fixture, challenge, code) == .refused(.flowNotFound))
    }
  }

  @Test func `any call removes an ended message`() async throws {
    try await ProviderFixture.run { fixture in
      _ = try await fixture.challenge()
      fixture.clock.advance(.seconds(301))
      _ = try await fixture.session()
      #expect(fixture.outbox.isEmpty)
    }
  }

  @Test func `another code can be had after the cooldown and voids the last one`() async throws {
    try await ProviderFixture.run { fixture in
      let challenge = try await fixture.challenge()
      let first = try fixture.sentCode()
      fixture.clock.advance(.seconds(10))
      let early = await failure { () throws(ProviderFailure) in
        try await fixture.provider.resendOTP(flow: challenge.flow)
      }
      #expect(early == .refused(.resendTooSoon, retryAfter: .seconds(20)))
      _ = await verify(fixture, challenge, try fixture.wrongCode())
      fixture.clock.advance(.seconds(20))
      let renewed = try await fixture.provider.resendOTP(flow: challenge.flow)
      #expect(renewed.flow == challenge.flow)
      #expect(renewed.expiresAt == fixture.clock.now + .seconds(300))
      // Another code is no way to more guesses.
      #expect(renewed.attemptsRemaining == 4)
      #expect(fixture.outbox == ["00000002.json"])
      let second = try fixture.sentCode()
      if first != second {
        #expect(await verify(fixture, challenge, first) == .refused(.otpInvalid, attemptsRemaining: 3))
      }
      _ = try await fixture.provider.verifyOTP(flow: challenge.flow, code: second)
    }
  }

  @Test func `a login sends five messages at most`() async throws {
    try await ProviderFixture.run { fixture in
      let challenge = try await fixture.challenge()
      for _ in 2...5 {
        fixture.clock.advance(.seconds(30))
        _ = try await fixture.provider.resendOTP(flow: challenge.flow)
      }
      fixture.clock.advance(.seconds(30))
      let refused = await failure { () throws(ProviderFailure) in
        try await fixture.provider.resendOTP(flow: challenge.flow)
      }
      #expect(refused == .refused(.rateLimited, retryAfter: .seconds(270)))
    }
  }

  @Test func `a later login of the same account voids the one before`() async throws {
    try await ProviderFixture.run { fixture in
      _ = try await fixture.proven()
      let first = try await fixture.login("b@example.com")
      let code = try fixture.sentCode()
      let second = try await fixture.login("b@example.com")
      #expect(await verify(fixture, first, code) == .refused(.flowNotFound))
      #expect(fixture.outbox == ["00000003.json"])
      _ = try await fixture.provider.verifyOTP(flow: second.flow, code: try fixture.sentCode())
    }
  }

  @Test func `a handle that was never given is unknown`() async throws {
    try await ProviderFixture.run { fixture in
      let (flow, code) = (try Secret(utf8: "no handle"), try Secret(utf8: "123456"))
      let verified = await failure { () throws(ProviderFailure) in
        try await fixture.provider.verifyOTP(flow: flow, code: code)
      }
      #expect(verified == .refused(.flowNotFound))
      let resent = await failure { () throws(ProviderFailure) in try await fixture.provider.resendOTP(flow: flow) }
      #expect(resent == .refused(.flowNotFound))
    }
  }

  @Test func `a code is not in the database`() async throws {
    // More digits than chance could put into the file.
    let longCodes: (inout LocalProviderConfiguration) -> Void = { $0.otp.length = 12 }
    try await ProviderFixture.run(longCodes) { fixture in
      let challenge = try await fixture.challenge()
      #expect(challenge.otpLength == 12)
      let code = Array(try fixture.message().required("code").string().utf8)
      for name in ["db.sqlite", "db.sqlite-wal"] {
        let bytes = try fixture.contents(name)
        #expect(!bytes.isEmpty)
        #expect(!bytes.contains(code))
      }
    }
  }

  private func verify(_ fixture: ProviderFixture, _ challenge: ProviderChallenge, _ code: Secret) async
    -> ProviderFailure?
  {
    await failure { () throws(ProviderFailure) in
      try await fixture.provider.verifyOTP(flow: challenge.flow, code: code)
    }
  }
}
