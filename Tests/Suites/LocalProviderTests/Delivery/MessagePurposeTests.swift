import BrokerCore
import BrokerProtocol
import SecretMemory
import TestSupport
import Testing

@testable import LocalProvider

/// Which messages go when one of an account is of no more use.
@Suite(.standardTimeLimit) struct MessagePurposeTests {
  private static let other = "Reset your password"

  /// An account whose logins ask for a code by e-mail, with a message of another purpose in the outbox.
  private func prepare(_ fixture: ProviderFixture) async throws -> ProviderSession {
    let session = try await fixture.session(secondFactor: .email)
    try await fixture.provider.forgotPassword(email: "a@example.com")
    #expect(try fixture.subjects == ["Your second factor was changed", Self.other])
    return session
  }

  @Test func `a code that was used takes its message along, and no other`() async throws {
    try await ProviderFixture.run { fixture in
      _ = try await prepare(fixture)
      let challenge = try await fixture.login()
      #expect(try fixture.subjects.last == "Your login code")
      #expect(await fixture.verify(challenge, try fixture.sentCode()) == nil)
      #expect(try fixture.subjects == ["Your second factor was changed", Self.other])
    }
  }

  @Test func `a code that was replaced takes its message along, and no other`() async throws {
    try await ProviderFixture.run { fixture in
      _ = try await prepare(fixture)
      let challenge = try await fixture.login()
      let names = fixture.outbox
      fixture.clock.advance(.seconds(30))
      _ = try await fixture.provider.resendOTP(flow: challenge.flow)
      #expect(try fixture.subjects == ["Your second factor was changed", Self.other, "Your login code"])
      #expect(fixture.outbox != names)
      _ = try await fixture.login()
      #expect(try fixture.subjects == ["Your second factor was changed", Self.other, "Your login code"])
    }
  }

  @Test func `a code that has expired takes its message along, and no other`() async throws {
    try await ProviderFixture.run { fixture in
      _ = try await prepare(fixture)
      let challenge = try await fixture.login()
      let code = try fixture.sentCode()
      fixture.clock.advance(.seconds(300))
      #expect(await fixture.verify(challenge, code) == .refused(.otpExpired))
      #expect(try fixture.subjects == ["Your second factor was changed", Self.other])
    }
  }

  @Test func `a backup code takes the message of the code along that it stands in for`() async throws {
    try await ProviderFixture.run { fixture in
      let session = try await prepare(fixture)
      let code = try #require(try await fixture.backupCodes(session).first)
      #expect(await fixture.verify(try await fixture.login(), backupCode: code) == nil)
      #expect(try fixture.subjects == ["Your second factor was changed", Self.other])
    }
  }

  @Test func `the last wrong code takes the message along`() async throws {
    try await ProviderFixture.run { fixture in
      _ = try await prepare(fixture)
      let challenge = try await fixture.login()
      let wrong = try fixture.wrongCode()
      for _ in 1...5 { _ = await fixture.verify(challenge, wrong) }
      #expect(try fixture.subjects == ["Your second factor was changed", Self.other])
    }
  }

  @Test func `notices stand beside each other, and go after a day`() async throws {
    try await ProviderFixture.run { fixture in
      let session = try await fixture.session(secondFactor: .email)
      _ = try await fixture.update(#"{"twoFactor":"off"}"#, session)
      #expect(try fixture.subjects == Array(repeating: "Your second factor was changed", count: 2))
      fixture.clock.advance(.seconds(86_399))
      _ = try await fixture.provider.keySet()
      #expect(fixture.outbox.count == 2)
      fixture.clock.advance(.seconds(1))
      _ = try await fixture.provider.keySet()
      #expect(fixture.outbox.isEmpty)
    }
  }
}
