import BrokerCore
import BrokerProtocol
import SecretMemory
import TestSupport
import Testing

@testable import LocalProvider

/// What the owner of the state directory does for users who have lost something, and after an incident.
@Suite(.standardTimeLimit) struct ResetTests {
  private func refresh(_ fixture: ProviderFixture, _ session: ProviderSession) async throws -> ProviderFailure? {
    let token = try #require(session.tokens.refreshToken)
    return await failure { () throws(ProviderFailure) in try await fixture.provider.refresh(token) }
  }

  private func login(_ fixture: ProviderFixture, password: String) async throws -> ProviderFailure? {
    var credentials = try fixture.credentials()
    credentials.password = try Secret(utf8: password)
    return await failure { () throws(ProviderFailure) in try await fixture.provider.login(credentials) }
  }

  @Test func `a new password counts at once, and every session ends`() async throws {
    try await ProviderFixture.run { fixture in
      let session = try await fixture.session("a@example.com")
      let new = try Secret(utf8: "another-long-password")
      _ = try await fixture.provider.reset("a@example.com", password: new, removesFactor: false)
      #expect(try await refresh(fixture, session) == .sessionEnded(.refreshRejected))
      #expect(try await login(fixture, password: ProviderFixture.password) == .refused(.invalidCredentials))
      #expect(try await login(fixture, password: "another-long-password") == nil)
      #expect(try await fixture.provider.auditEvents().contains("passwordReset"))
    }
  }

  @Test func `without the second factor an account logs in by its password`() async throws {
    try await ProviderFixture.run { fixture in
      let challenge = try await fixture.challenge("b@example.com")
      let user = try await fixture.provider.reset("b@example.com", password: nil, removesFactor: true)
      #expect(user.twoFactor == .off)
      let code = try Secret(utf8: "000000")
      let ended = await failure { () throws(ProviderFailure) in
        try await fixture.provider.verifyOTP(flow: challenge.flow, code: code)
      }
      #expect(ended == .refused(.flowNotFound))
      #expect(try await fixture.provider.login(fixture.credentials("b@example.com")).session.tokens.refreshToken != nil)
    }
  }

  @Test func `nothing is changed by a reset of nothing, of no one, or to a password that is not taken`() async throws {
    try await ProviderFixture.run { fixture in
      let session = try await fixture.session("a@example.com")
      let short = try Secret(utf8: "short")
      for (name, password, fields) in [
        ("a@example.com", nil, ["password", "removeSecondFactor"]), ("no one", short, ["user"]),
        ("a@example.com", short, ["password"]),
      ] {
        let refused = await failure { () throws(ProviderFailure) in
          try await fixture.provider.reset(name, password: password, removesFactor: false)
        }
        #expect(refused == .refused(.validationFailed, fields: fields))
      }
      #expect(try await refresh(fixture, session) == nil)
    }
  }

  @Test func `a deleted account is gone, with its sessions`() async throws {
    try await ProviderFixture.run { fixture in
      let session = try await fixture.session("a@example.com")
      try await fixture.provider.delete("a@example.com")
      #expect(try await fixture.provider.users().isEmpty)
      #expect(try await refresh(fixture, session) == .sessionEnded(.refreshRejected))
      let again = await failure { () throws(ProviderFailure) in try await fixture.provider.delete("a@example.com") }
      #expect(again == .refused(.validationFailed, fields: ["user"]))
    }
  }

  @Test func `every session of every account ends at once`() async throws {
    try await ProviderFixture.run { fixture in
      let sessions = [try await fixture.session("a@example.com"), try await fixture.session("c@example.com")]
      #expect(try await fixture.provider.revokeAllSessions() == 2)
      for session in sessions { #expect(try await refresh(fixture, session) == .sessionEnded(.refreshRejected)) }
      #expect(try await fixture.provider.revokeAllSessions() == 0)
      #expect(try await login(fixture, password: ProviderFixture.password) == nil)
    }
  }
}
