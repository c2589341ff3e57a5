import BrokerCore
import BrokerProtocol
import SecretMemory
import TestSupport
import Testing

@testable import LocalProvider

/// New accounts, and the verification of their addresses.
@Suite(.standardTimeLimit) struct LocalProviderRegistrationTests {
  private static let required: @Sendable (inout LocalProviderConfiguration) -> Void = {
    $0.emailVerification = .required
  }

  private func register(_ fixture: ProviderFixture, _ registration: Registration) async -> ProviderFailure? {
    await failure { () throws(ProviderFailure) in try await fixture.provider.register(registration) }
  }

  private func login(_ fixture: ProviderFixture, _ password: String = ProviderFixture.password) async throws
    -> ProviderFailure?
  {
    let credentials = try fixture.credentials(password: password)
    return await failure { () throws(ProviderFailure) in try await fixture.provider.login(credentials) }
  }

  private func verify(_ fixture: ProviderFixture, _ token: Secret) async -> ProviderFailure? {
    await failure { () throws(ProviderFailure) in try await fixture.provider.verifyEmail(token: token) }
  }

  /// Registers an account whose address must be verified.
  private func registerUnverified(_ fixture: ProviderFixture) async throws {
    let registration = Registration(email: "a@example.com", password: try Secret(utf8: ProviderFixture.password))
    guard case .emailVerificationRequired = try await fixture.provider.register(registration) else {
      throw UnexpectedOutcome()
    }
  }

  @Test(
    arguments: [
      ("password", "a@example.com", "short", nil, nil), ("password", "a@example.com", "manchesterunited", nil, nil),
      ("password", "a@example.com", "abcdefghijklmnopqrst", nil, nil),
      ("password", "a.long.address@example.com", "A.Long.Address@example.com", nil, nil),
      ("password", "a@example.com", "Augusta Ada King of Lovelace", "Augusta Ada King of Lovelace", nil),
      ("password", "a@example.com", "k8#mQ2xzLw7pVt", nil, nil),
      ("password", "a@example.com", "k8#mQ2x", nil, "+491511234567"),
      ("email", "nobody", "not a real password", nil, nil), ("phoneNumber", "a@example.com", "k8#mQ2xz", nil, "0151"),
      ("name", "a@example.com", "not a real password", String(repeating: "n", count: 257), nil),
    ] as [(String, String, String, String?, String?)])
  func `a value that is not accepted is named`(
    _ field: String, _ email: String, _ password: String, _ name: String?, _ phone: String?
  ) async throws {
    try await ProviderFixture.run { fixture in
      let registration = Registration(
        email: email, password: try Secret(utf8: password), name: name, phoneNumber: phone)
      #expect(await register(fixture, registration) == .refused(.validationFailed, fields: [field]))
      #expect(try await fixture.number("SELECT count(*) FROM account") == 0)
    }
  }

  @Test func `with a phone number eight characters are enough, and codes go there`() async throws {
    try await ProviderFixture.run { fixture in
      let registration = Registration(
        email: "a@example.com", password: try Secret(utf8: "k8#mQ2xz"), phoneNumber: "+491511234567")
      #expect(try await fixture.provider.register(registration).challenge.method == .sms)
      #expect(try await fixture.number("SELECT count(*) FROM account WHERE second_factor = 'sms'") == 1)
    }
  }

  @Test func `a password is the same however its letters are composed`() async throws {
    try await ProviderFixture.run { fixture in
      let registration = Registration(
        email: "a@example.com", password: try Secret(utf8: "a re\u{301}al password"))
      _ = try await fixture.provider.register(registration).session
      #expect(try await login(fixture, "a r\u{E9}al password") == nil)
      #expect(try await login(fixture, "a re\u{301}al password") == nil)
    }
  }

  @Test func `without verification an address is unverified, and nothing is sent`() async throws {
    try await ProviderFixture.run { fixture in
      let user = try await fixture.session().user
      #expect(user?.emailVerified == false)
      #expect(fixture.outbox.isEmpty)
    }
  }

  @Test func `a login waits for the verification where it is required`() async throws {
    try await ProviderFixture.run(Self.required) { fixture in
      try await registerUnverified(fixture)
      #expect(try fixture.subjects == ["Confirm your e-mail address"])
      let token = try fixture.sentToken()
      #expect(try await login(fixture) == .refused(.emailUnverified))
      #expect(try await login(fixture, "another password") == .refused(.invalidCredentials))
      #expect(try fixture.sentToken() == token, "the mail may be on its way still")
      #expect(await verify(fixture, token) == nil)
      #expect(fixture.outbox.isEmpty)
      #expect(try await fixture.provider.login(fixture.credentials()).session.user?.emailVerified == true)
      #expect(await verify(fixture, token) == .refused(.validationFailed, fields: ["token"]))
      #expect(try await fixture.provider.auditEvents().contains("emailVerified"))
    }
  }

  @Test func `a login some minutes later sends another token, and the last one is good for a day`() async throws {
    try await ProviderFixture.run(Self.required) { fixture in
      try await registerUnverified(fixture)
      let first = try fixture.sentToken()
      fixture.clock.advance(.seconds(300))
      #expect(try await login(fixture) == .refused(.emailUnverified))
      let second = try fixture.sentToken()
      #expect(fixture.outbox == ["00000002.json"])
      #expect(await verify(fixture, first) == .refused(.validationFailed, fields: ["token"]))
      fixture.clock.advance(.seconds(86_400))
      #expect(await verify(fixture, second) == .refused(.validationFailed, fields: ["token"]))
      #expect(try await login(fixture) == .refused(.emailUnverified))
      fixture.clock.advance(.milliseconds(86_399_999))
      let third = try fixture.sentToken()
      #expect(await verify(fixture, third) == nil)
      #expect(try await login(fixture) == nil)
    }
  }

  @Test func `a token verifies the address that it was sent to, and sets no password`() async throws {
    try await ProviderFixture.run(Self.required) { fixture in
      try await registerUnverified(fixture)
      let (token, password) = (try fixture.sentToken(), try Secret(utf8: "another real password"))
      let reset = await failure { () throws(ProviderFailure) in
        try await fixture.provider.resetPassword(token: token, newPassword: password)
      }
      #expect(reset == .refused(.validationFailed, fields: ["token"]))
      try await fixture.change("UPDATE account SET email = 'b@example.com'")
      #expect(await verify(fixture, token) == .refused(.validationFailed, fields: ["token"]))
      try await fixture.change("UPDATE account SET email = 'a@example.com'")
      #expect(await verify(fixture, token) == nil)
    }
  }
}
