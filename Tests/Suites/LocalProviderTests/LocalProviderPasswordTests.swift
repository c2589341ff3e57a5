import BrokerCore
import BrokerProtocol
import JSON
import SecretMemory
import TestSupport
import Testing

@testable import LocalProvider

/// Forgotten, reset and changed passwords.
@Suite(.standardTimeLimit) struct LocalProviderPasswordTests {
  private static let newPassword = "another real password"

  private func forget(_ fixture: ProviderFixture, _ email: String = "a@example.com") async -> ProviderFailure? {
    await failure { () throws(ProviderFailure) in try await fixture.provider.forgotPassword(email: email) }
  }

  private func reset(
    _ fixture: ProviderFixture, _ token: Secret, _ password: String = Self.newPassword
  ) async throws -> ProviderFailure? {
    let password = try Secret(utf8: password)
    return await failure { () throws(ProviderFailure) in
      try await fixture.provider.resetPassword(token: token, newPassword: password)
    }
  }

  private func change(
    _ fixture: ProviderFixture, _ session: ProviderSession, from old: String = ProviderFixture.password,
    to new: String = Self.newPassword
  ) async throws -> ProviderFailure? {
    let (old, new, token) = (try Secret(utf8: old), try Secret(utf8: new), session.tokens.accessToken)
    return await failure { () throws(ProviderFailure) in
      try await fixture.provider.changePassword(from: old, to: new, accessToken: token)
    }
  }

  private func login(_ fixture: ProviderFixture, _ password: String) async throws -> ProviderFailure? {
    let credentials = try fixture.credentials(password: password)
    return await failure { () throws(ProviderFailure) in try await fixture.provider.login(credentials) }
  }

  private func refresh(_ fixture: ProviderFixture, _ session: ProviderSession) async throws -> ProviderFailure? {
    let token = session.tokens.refreshToken ?? BoundToken(.empty)
    return await failure { () throws(ProviderFailure) in try await fixture.provider.refresh(token) }
  }

  @Test func `a forgotten password is set with the token of the mail, which ends everything begun before`()
    async throws
  {
    try await ProviderFixture.run { fixture in
      let session = try await fixture.session()
      #expect(await forget(fixture) == nil)
      let message = try fixture.message()
      #expect(try message.required("to").string() == "a@example.com")
      #expect(try message.required("method").string() == "email")
      let token = try fixture.sentToken()
      #expect(token.byteCount == 43)
      #expect(try await reset(fixture, token) == nil)
      #expect(try await login(fixture, Self.newPassword) == nil)
      #expect(try await login(fixture, ProviderFixture.password) == .refused(.invalidCredentials))
      #expect(try await refresh(fixture, session) == .sessionEnded(.refreshRejected))
      // The token's message is gone with it, and the owner is told.
      #expect(try fixture.subjects == ["Your password was changed"])
      #expect(try await reset(fixture, token) == .refused(.validationFailed, fields: ["token"]))
      let events = try await fixture.provider.auditEvents()
      #expect(events.contains("passwordForgotten") && events.contains("passwordReset"))
    }
  }

  @Test func `a token is good for half an hour, and only until the next one is sent`() async throws {
    try await ProviderFixture.run { fixture in
      _ = try await fixture.session()
      #expect(await forget(fixture) == nil)
      let first = try fixture.sentToken()
      #expect(await forget(fixture) == nil)
      let second = try fixture.sentToken()
      #expect(fixture.outbox == ["00000002.json"])
      #expect(try await reset(fixture, first) == .refused(.validationFailed, fields: ["token"]))
      fixture.clock.advance(.seconds(1800))
      #expect(try await reset(fixture, second) == .refused(.validationFailed, fields: ["token"]))
      #expect(fixture.outbox.isEmpty)
      #expect(await forget(fixture) == nil)
      let third = try fixture.sentToken()
      fixture.clock.advance(.milliseconds(1_799_999))
      #expect(try await reset(fixture, third) == nil)
      #expect(try await fixture.number("SELECT count(*) FROM mail_token") == 0)
    }
  }

  @Test func `of a hundred uses of one token one succeeds`() async throws {
    try await ProviderFixture.run { fixture in
      _ = try await fixture.session()
      #expect(await forget(fixture) == nil)
      let (provider, token) = (fixture.provider, try fixture.sentToken())
      let passwords = try (1...100).map { try Secret(utf8: "another real password \($0)") }
      let failures = await withTaskGroup(of: ProviderFailure?.self) { group in
        for password in passwords {
          group.addTask {
            await failure { () throws(ProviderFailure) in
              try await provider.resetPassword(token: token, newPassword: password)
            }
          }
        }
        return await group.reduce(into: []) { $0.append($1) }
      }
      #expect(failures.count { $0 == nil } == 1)
      #expect(failures.count { $0 == .refused(.validationFailed, fields: ["token"]) } == 99)
    }
  }

  @Test func `whether there is such an account shows neither in the answer nor in the work`() async throws {
    try await ProviderFixture.run { fixture in
      _ = try await fixture.session()
      for email in ["a@example.com", "unknown@example.com"] {
        let before = fixture.hashCount
        #expect(await forget(fixture, email) == nil)
        #expect(fixture.hashCount - before == 1, "\(email)")
      }
      #expect(fixture.outbox == ["00000001.json"])
      for table: StaticString in ["SELECT count(*) FROM mail_token", "SELECT count(*) FROM sent_code"] {
        #expect(try await fixture.number(table) == 1, "nothing is kept of the other one")
      }
      for email in ["", "nobody", "@"] { #expect(await forget(fixture, email) == nil) }
    }
  }

  @Test func `a message for no one that a killed process has left is removed`() async throws {
    try await ProviderFixture.run { fixture in
      _ = try await fixture.session()
      await fixture.provider.shutDown()
      try fixture.overwrite("outbox/00000000.json", with: "{}")
      _ = try await fixture.provider.users()
      #expect(fixture.outbox.isEmpty)
    }
  }

  @Test func `past the limit nothing is sent or told, and the last token stays good`() async throws {
    try await ProviderFixture.run { fixture in
      _ = try await fixture.session()
      for _ in 1...4 { #expect(await forget(fixture) == nil) }
      #expect(fixture.outbox == ["00000003.json"])
      #expect(try await reset(fixture, try fixture.sentToken()) == nil)
      // What was done is told all the same.
      #expect(try fixture.subjects == ["Your password was changed"])
    }
  }

  @Test func `a token that was sent to another address than the account's sets nothing`() async throws {
    try await ProviderFixture.run { fixture in
      _ = try await fixture.session()
      #expect(await forget(fixture) == nil)
      let token = try fixture.sentToken()
      try await fixture.change("UPDATE account SET email = 'new@example.com'")
      #expect(try await reset(fixture, token) == .refused(.validationFailed, fields: ["token"]))
    }
  }

  @Test func `a refused password leaves the token good, and both are told at once`() async throws {
    try await ProviderFixture.run { fixture in
      _ = try await fixture.session()
      #expect(await forget(fixture) == nil)
      let token = try fixture.sentToken()
      // Eight characters are enough with a second factor only; the others are no password of anyone.
      for password in ["k8#mQ2xz", "password1", "a@example.com"] {
        #expect(try await reset(fixture, token, password) == .refused(.validationFailed, fields: ["password"]))
      }
      let wrong = try Secret(utf8: "not a token")
      #expect(
        try await reset(fixture, wrong, "short") == .refused(.validationFailed, fields: ["token", "password"]))
      #expect(try await reset(fixture, token) == nil)
    }
  }

  @Test func `a reset verifies the address, and ends the wait after wrong passwords where no code is guessed as well`()
    async throws
  {
    try await ProviderFixture.run { fixture in
      let user = try await fixture.session().user
      #expect(user?.emailVerified == false)
      _ = try await fixture.proven()
      for email in ["a@example.com", "b@example.com"] {
        let wrong = try fixture.credentials(email, password: "not this one either")
        for _ in 1...4 { _ = await failure { () throws(ProviderFailure) in try await fixture.provider.login(wrong) } }
        #expect(await forget(fixture, email) == nil)
        #expect(try await reset(fixture, try fixture.sentToken()) == nil)
      }
      let session = try await fixture.provider.login(fixture.credentials(password: Self.newPassword)).session
      #expect(session.user?.emailVerified == true)
      let other = try fixture.credentials("b@example.com", password: Self.newPassword)
      let slowed = await failure { () throws(ProviderFailure) in try await fixture.provider.login(other) }
      #expect(slowed == .refused(.tooManyAttempts, retryAfter: .seconds(2)))
    }
  }

  @Test func `a changed password ends the other sessions, and the login that waits for a code`() async throws {
    try await ProviderFixture.run { fixture in
      let challenge = try await fixture.challenge("a@example.com")
      let own = try await fixture.provider.verifyOTP(flow: challenge.flow, code: try fixture.sentCode())
      let second = try await fixture.provider.login(fixture.credentials()).challenge
      let other = try await fixture.provider.verifyOTP(flow: second.flow, code: try fixture.sentCode())
      let pending = try await fixture.provider.login(fixture.credentials()).challenge
      let code = try fixture.sentCode()
      #expect(try await change(fixture, own) == nil)
      #expect(try fixture.subjects == ["Your password was changed"])
      #expect(try await refresh(fixture, other) == .sessionEnded(.refreshRejected))
      #expect(try await refresh(fixture, own) == nil)
      let late = await failure { () throws(ProviderFailure) in
        try await fixture.provider.verifyOTP(flow: pending.flow, code: code)
      }
      #expect(late == .refused(.flowNotFound))
      #expect(try await login(fixture, ProviderFixture.password) == .refused(.invalidCredentials))
      #expect(try await login(fixture, Self.newPassword) == nil)
      #expect(try await fixture.provider.auditEvents().contains("passwordChanged"))
    }
  }

  @Test func `a change needs the old password, whose guesses count, and a good new one`() async throws {
    try await ProviderFixture.run { fixture in
      let session = try await fixture.session()
      #expect(
        try await change(fixture, session, to: "too short") == .refused(.validationFailed, fields: ["newPassword"]))
      for _ in 1...4 {
        #expect(try await change(fixture, session, from: "not the old one") == .refused(.invalidCredentials))
      }
      #expect(try await change(fixture, session) == .refused(.tooManyAttempts, retryAfter: .seconds(2)))
      fixture.clock.advance(.seconds(2))
      #expect(try await change(fixture, session) == nil)
      fixture.clock.advance(.seconds(900))
      #expect(try await change(fixture, session, from: Self.newPassword) == .tokenRefused)
    }
  }

  @Test func `a changed password ends the token for a forgotten one`() async throws {
    try await ProviderFixture.run { fixture in
      let session = try await fixture.session()
      #expect(await forget(fixture) == nil)
      let token = try fixture.sentToken()
      #expect(try await change(fixture, session) == nil)
      #expect(try await reset(fixture, token) == .refused(.validationFailed, fields: ["token"]))
    }
  }

  @Test func `no token is in the database`() async throws {
    try await ProviderFixture.run { fixture in
      _ = try await fixture.session()
      #expect(await forget(fixture) == nil)
      let token = Array(try fixture.message().required("token").string().utf8)
      for name in ["db.sqlite", "db.sqlite-wal"] {
        let bytes = try fixture.contents(name)
        #expect(!bytes.isEmpty && !bytes.contains(token))
      }
    }
  }
}
