import BrokerCore
import BrokerProtocol
import SecretMemory
import TestSupport
import Testing

@testable import LocalProvider

/// Accounts that are removed, and accounts that are disabled.
@Suite(.standardTimeLimit) struct LocalProviderDeletionTests {
  private func delete(
    _ fixture: ProviderFixture, _ session: ProviderSession, _ password: String = ProviderFixture.password
  ) async throws -> ProviderFailure? {
    let (password, token) = (try Secret(utf8: password), session.tokens.accessToken)
    return await failure { () throws(ProviderFailure) in
      try await fixture.provider.deleteAccount(password: password, accessToken: token)
    }
  }

  @Test func `a deletion leaves no row and no message, and the address is free again`() async throws {
    try await ProviderFixture.run { fixture in
      let challenge = try await fixture.challenge()
      let session = try await fixture.provider.verifyOTP(flow: challenge.flow, code: try fixture.sentCode())
      _ = try await fixture.provider.login(fixture.credentials("b@example.com")).challenge
      try await fixture.provider.forgotPassword(email: "b@example.com")
      #expect(fixture.outbox.count == 2)
      #expect(try await delete(fixture, session, "not this password") == .refused(.invalidCredentials))
      try await fixture.change("INSERT INTO backup_code (code, account) SELECT x'01', id FROM account")
      try await fixture.change(
        "INSERT INTO totp (account, secret, last_step, enrolled_at) SELECT id, x'00', 0, 0 FROM account")
      try await fixture.change(
        """
        INSERT INTO enrolment (account, handle, secret, attempts, expires_at)
        SELECT id, x'00', x'00', 0, 1900000000000 FROM account
        """)
      #expect(try await delete(fixture, session) == nil)
      #expect(fixture.outbox.isEmpty)
      for query: StaticString in [
        "SELECT count(*) FROM account", "SELECT count(*) FROM throttle", "SELECT count(*) FROM otp_flow",
        "SELECT count(*) FROM message", "SELECT count(*) FROM token_family", "SELECT count(*) FROM refresh_token",
        "SELECT count(*) FROM backup_code", "SELECT count(*) FROM totp", "SELECT count(*) FROM enrolment",
        "SELECT count(*) FROM mail_token", "SELECT count(*) FROM sent_code WHERE account IS NOT NULL",
      ] {
        #expect(try await fixture.number(query) == 0, "\(query)")
      }
      #expect(try await fixture.provider.auditEvents().last == "accountDeleted")
      #expect(try await delete(fixture, session) == .tokenRefused)
      _ = try await fixture.session("b@example.com")
    }
  }

  @Test func `a deletion needs the password, whose guesses count, and a living session`() async throws {
    try await ProviderFixture.run { fixture in
      let session = try await fixture.session()
      for _ in 1...4 { #expect(try await delete(fixture, session, "not this one") == .refused(.invalidCredentials)) }
      #expect(try await delete(fixture, session) == .refused(.tooManyAttempts, retryAfter: .seconds(2)))
      fixture.clock.advance(.seconds(900))
      #expect(try await delete(fixture, session) == .tokenRefused)
      _ = try await fixture.provider.login(fixture.credentials()).session
    }
  }

  @Test func `other accounts stay as they are`() async throws {
    try await ProviderFixture.run { fixture in
      let other = try await fixture.session("c@example.com")
      let session = try await fixture.session()
      #expect(try await delete(fixture, session) == nil)
      _ = try await fixture.provider.currentUser(accessToken: other.tokens.accessToken)
      _ = try await fixture.provider.login(fixture.credentials("c@example.com")).session
    }
  }

  @Test func `a disabled account is told so after the right password only, and can do nothing`() async throws {
    try await ProviderFixture.run { fixture in
      let session = try await fixture.session()
      try await fixture.provider.forgotPassword(email: "a@example.com")
      let token = try fixture.sentToken()
      try await fixture.change("UPDATE account SET disabled_at = 1700000000000")
      let (right, wrong) = (try fixture.credentials(), try fixture.credentials(password: "another password"))
      let provider = fixture.provider
      #expect(
        await failure { () throws(ProviderFailure) in try await provider.login(right) } == .refused(.accountLocked))
      #expect(
        await failure { () throws(ProviderFailure) in try await provider.login(wrong) }
          == .refused(.invalidCredentials))
      let password = try Secret(utf8: "another real password")
      let reset = await failure { () throws(ProviderFailure) in
        try await provider.resetPassword(token: token, newPassword: password)
      }
      #expect(reset == .refused(.accountLocked))
      #expect(try await delete(fixture, session) == .tokenRefused)
      try await provider.forgotPassword(email: "a@example.com")
      #expect(fixture.outbox == ["00000001.json"])
      try await fixture.change("UPDATE account SET disabled_at = NULL")
      _ = try await provider.login(right).session
    }
  }
}
