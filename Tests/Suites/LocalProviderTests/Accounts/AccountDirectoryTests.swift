import BrokerCore
import BrokerProtocol
import SecretMemory
import TestSupport
import Testing

@testable import LocalProvider

/// What the owner of the state directory sees of accounts and sessions, and does with them.
@Suite(.standardTimeLimit) struct AccountDirectoryTests {
  private static let noUser = ProviderFailure.refused(.validationFailed, fields: ["user"])
  private static let noSession = ProviderFailure.refused(.validationFailed, fields: ["session"])

  private func login(_ fixture: ProviderFixture) async throws -> ProviderFailure? {
    let credentials = try fixture.credentials()
    return await failure { () throws(ProviderFailure) in try await fixture.provider.login(credentials) }
  }

  private func refresh(_ fixture: ProviderFixture, _ session: ProviderSession) async throws -> ProviderFailure? {
    let token = try #require(session.tokens.refreshToken)
    return await failure { () throws(ProviderFailure) in try await fixture.provider.refresh(token) }
  }

  private func revoke(
    _ fixture: ProviderFixture, _ user: String?, _ session: String? = nil
  ) async -> ProviderFailure? {
    await failure { () throws(ProviderFailure) in
      try await fixture.provider.revokeSessions(of: user, session: session)
    }
  }

  // MARK: Accounts

  @Test func `accounts are listed by their addresses, with what is known of them`() async throws {
    try await ProviderFixture.run { fixture in
      #expect(try await fixture.provider.users().isEmpty)
      _ = try await fixture.challenge("b@example.com")
      let ada = try #require(try await fixture.session("a@example.com").user)
      _ = try await fixture.provider.login(fixture.credentials())
      let users = try await fixture.provider.users()
      #expect(users.map(\.email) == ["a@example.com", "b@example.com"])
      #expect(
        users.first
          == LocalUser(
            id: ada.id, email: "a@example.com", emailVerified: false, name: "Ada", twoFactor: .off, isDisabled: false,
            createdAt: fixture.clock.now, sessionCount: 2))
      #expect(users.last?.twoFactor == .off && users.last?.phoneNumberMasked == "+49 ••• ••67")
      #expect(users.last?.sessionCount == 0)
    }
  }

  @Test func `an account that is added logs in, and has no session before`() async throws {
    try await ProviderFixture.run { fixture in
      let registration = Registration(email: " A@Example.com", password: try Secret(utf8: ProviderFixture.password))
      let user = try await fixture.provider.addUser(registration)
      #expect(user.email == "a@example.com" && user.sessionCount == 0 && user.twoFactor == .off)
      #expect(try await fixture.provider.users() == [user] && fixture.outbox.isEmpty)
      #expect(try await login(fixture) == nil)
      let again = await failure { () throws(ProviderFailure) in try await fixture.provider.addUser(registration) }
      #expect(again == .refused(.emailTaken))
    }
  }

  @Test func `an account that is added must verify its address where that is required`() async throws {
    try await ProviderFixture.run {
      $0.emailVerification = .required
    } _: { fixture in
      let registration = Registration(email: "a@example.com", password: try Secret(utf8: ProviderFixture.password))
      _ = try await fixture.provider.addUser(registration)
      #expect(try await login(fixture) == .refused(.emailUnverified))
      try await fixture.provider.verifyEmail(token: fixture.sentToken())
      #expect(try await login(fixture) == nil)
      #expect(try await fixture.provider.users().map(\.emailVerified) == [true])
    }
  }

  @Test func `values that a registration would not take are refused all the same`() async throws {
    try await ProviderFixture.run { fixture in
      let registration = Registration(email: "a", password: try Secret(utf8: "short"), phoneNumber: "1")
      let refused = await failure { () throws(ProviderFailure) in try await fixture.provider.addUser(registration) }
      #expect(refused == .refused(.validationFailed, fields: ["email", "password", "phoneNumber"]))
    }
  }

  @Test func `of too many for one answer the newest accounts are listed, and each is found`() async throws {
    try await ProviderFixture.run { fixture in
      _ = try await fixture.session("a@example.com")
      try await fixture.change(
        """
        WITH RECURSIVE counted(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM counted WHERE i < 1000)
        INSERT INTO account (id, email, password_hash, created_at)
        SELECT 'id' || i, 'b' || i || '@example.com', x'00', 1900000000000 FROM counted
        """)
      let emails = try await fixture.provider.users().map(\.email)
      #expect(emails.count == 1000 && !emails.contains("a@example.com") && emails == emails.sorted())
      #expect(try await fixture.provider.setEnabled(false, user: "a@example.com").isDisabled)
    }
  }

  // MARK: Disabled accounts

  @Test(arguments: [true, false])
  func `a disabled account has no session, and logs in when it is enabled again`(byAddress: Bool) async throws {
    try await ProviderFixture.run { fixture in
      let session = try await fixture.session()
      let id = try #require(session.user?.id)
      let name = byAddress ? "A@example.com" : id
      let disabled = try await fixture.provider.setEnabled(false, user: name)
      #expect(disabled.id == id && disabled.isDisabled && disabled.sessionCount == 0)
      #expect(try await refresh(fixture, session) == .sessionEnded(.refreshRejected))
      #expect(try await login(fixture) == .refused(.accountLocked))
      // Once more changes nothing.
      #expect(try await fixture.provider.setEnabled(false, user: name).isDisabled)
      #expect(try await !fixture.provider.setEnabled(true, user: name).isDisabled)
      #expect(try await login(fixture) == nil)
      #expect(try await refresh(fixture, session) == .sessionEnded(.refreshRejected))
      let events = try await fixture.provider.auditEvents()
      #expect(
        events.filter { $0 == "accountDisabled" || $0 == "accountEnabled" } == ["accountDisabled", "accountEnabled"])
    }
  }

  @Test func `a login that waits for its code ends with its account, and so does the message`() async throws {
    try await ProviderFixture.run { fixture in
      let challenge = try await fixture.challenge()
      let code = try fixture.sentCode()
      _ = try await fixture.provider.setEnabled(false, user: "b@example.com")
      #expect(fixture.outbox.isEmpty)
      let refused = await failure { () throws(ProviderFailure) in
        try await fixture.provider.verifyOTP(flow: challenge.flow, code: code)
      }
      #expect(refused == .refused(.flowNotFound))
    }
  }

  @Test(arguments: ["", "nobody@example.com", "no id", "a@example.com ' OR 1=1 --"])
  func `an account that is not there is refused by its field, and nothing happens`(name: String) async throws {
    try await ProviderFixture.run { fixture in
      _ = try await fixture.session()
      let events = try await fixture.provider.auditEvents()
      for isEnabled in [true, false] {
        let refused = await failure { () throws(ProviderFailure) in
          try await fixture.provider.setEnabled(isEnabled, user: name)
        }
        #expect(refused == Self.noUser)
      }
      let listed = await failure { () throws(ProviderFailure) in try await fixture.provider.sessions(of: name) }
      #expect(listed == Self.noUser)
      #expect(await revoke(fixture, name) == Self.noUser)
      #expect(try await fixture.provider.auditEvents() == events)
    }
  }

  // MARK: Sessions

  @Test func `sessions are listed while they can be refreshed, the newest first`() async throws {
    try await ProviderFixture.run {
      $0.refreshTokenLifetime = .seconds(1000)
      $0.refreshTokenIdleLifetime = .seconds(600)
    } _: { fixture in
      let start = fixture.clock.now
      let first = try await fixture.session()
      fixture.clock.advance(.seconds(500))
      _ = try await fixture.session("b@example.com")
      _ = try await fixture.provider.refresh(try #require(first.tokens.refreshToken))
      let sessions = try await fixture.provider.sessions(of: nil)
      #expect(sessions.map(\.createdAt) == [start + .seconds(500), start])
      let own = try await fixture.provider.sessions(of: "a@example.com")
      #expect(own == [sessions[1]] && own.first?.user == first.user?.id && own.first?.methods == ["pwd"])
      // The first by its own end, the second for want of use.
      #expect(sessions.map(\.expiresAt) == [start + .seconds(1100), start + .seconds(1000)])
      #expect(sessions.map(\.lastUsedAt) == [start + .seconds(500), start + .seconds(500)])
      fixture.clock.advance(.seconds(500))
      #expect(try await fixture.provider.sessions(of: nil) == [sessions[0]])
      fixture.clock.advance(.seconds(100))
      #expect(try await fixture.provider.sessions(of: nil).isEmpty)
      #expect(try await fixture.provider.users().map(\.sessionCount) == [0, 0])
    }
  }

  @Test func `one session is revoked, or all of an account, and each counts once`() async throws {
    try await ProviderFixture.run { fixture in
      let provider = fixture.provider
      let first = try await fixture.session()
      let other = try await fixture.session("b@example.com")
      for _ in 1...2 { _ = try await provider.login(fixture.credentials()) }
      let session = try #require(try await provider.introspect(first.tokens.accessToken.value).session)
      #expect(try await provider.revokeSessions(of: nil, session: session).count == 1)
      #expect(try await provider.revokeSessions(of: "a@example.com", session: session).count == 0)
      #expect(try await refresh(fixture, first) == .sessionEnded(.refreshRejected))
      #expect(try await provider.revokeSessions(of: "a@example.com", session: nil).count == 2)
      #expect(try await provider.revokeSessions(of: "a@example.com", session: nil).count == 0)
      #expect(try await refresh(fixture, other) == nil)
      #expect(try await provider.users().map(\.sessionCount) == [0, 1])
    }
  }

  @Test func `of too many for one answer the newest sessions are listed, and all of them are revoked`() async throws {
    try await ProviderFixture.run { fixture in
      let session = try await fixture.session()
      let id = try #require(try await fixture.provider.introspect(session.tokens.accessToken.value).session)
      try await fixture.change(
        """
        WITH RECURSIVE counted(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM counted WHERE i < 1000)
        INSERT INTO token_family (id, account, scopes, created_at, last_used_at, expires_at)
        SELECT 'family' || i, account.id, '', 1800000000001, 1800000000000, 1900000000000 FROM counted, account
        """)
      let listed = try await fixture.provider.sessions(of: "a@example.com").map(\.id)
      #expect(listed.count == 1000 && !listed.contains(id))
      #expect(try await fixture.provider.revokeSessions(of: "a@example.com", session: nil).count == 1001)
    }
  }

  @Test func `a session of another account, and none at all, are refused by their fields`() async throws {
    try await ProviderFixture.run { fixture in
      let session = try await fixture.session()
      _ = try await fixture.session("b@example.com")
      let id = try #require(try await fixture.provider.introspect(session.tokens.accessToken.value).session)
      #expect(await revoke(fixture, "b@example.com", id) == Self.noSession)
      #expect(await revoke(fixture, nil, "none") == Self.noSession)
      #expect(await revoke(fixture, nil) == .refused(.validationFailed, fields: ["user", "session"]))
      #expect(try await refresh(fixture, session) == nil)
    }
  }
}
