import BrokerCore
import BrokerProtocol
import JSON
import SecretMemory
import TestSupport
import Testing

@testable import LocalProvider

/// New addresses where addresses must be verified.
@Suite(.standardTimeLimit) struct EmailChangeTests {
  private static let badToken = ProviderFailure.refused(.validationFailed, fields: ["token"])
  private static let confirmation = "Confirm your e-mail address"
  private static let request = "Your e-mail address is to be changed"
  private static let required: @Sendable (inout LocalProviderConfiguration) -> Void = {
    $0.emailVerification = .required
  }

  /// A session of a new account whose address was verified.
  private func session(_ fixture: ProviderFixture) async throws -> ProviderSession {
    let registration = Registration(email: "a@example.com", password: try Secret(utf8: ProviderFixture.password))
    guard case .emailVerificationRequired = try await fixture.provider.register(registration) else {
      throw UnexpectedOutcome()
    }
    try await fixture.provider.verifyEmail(token: try fixture.sentToken())
    return try await fixture.provider.login(fixture.credentials()).session
  }

  private func verify(_ fixture: ProviderFixture, _ token: Secret) async -> ProviderFailure? {
    await failure { () throws(ProviderFailure) in try await fixture.provider.verifyEmail(token: token) }
  }

  private func login(_ fixture: ProviderFixture, _ email: String) async throws -> ProviderFailure? {
    let credentials = try fixture.credentials(email)
    return await failure { () throws(ProviderFailure) in try await fixture.provider.login(credentials) }
  }

  private func change(
    _ fixture: ProviderFixture, _ changes: String, _ session: ProviderSession
  ) async -> ProviderFailure? {
    await failure { () throws(ProviderFailure) in try await fixture.update(changes, session) }
  }

  private func address(_ fixture: ProviderFixture, _ session: ProviderSession) async throws -> String? {
    try await fixture.provider.currentUser(accessToken: session.tokens.accessToken).email
  }

  @Test func `a new address becomes the account's with its token, and the old one is told`() async throws {
    try await ProviderFixture.run(Self.required) { fixture in
      let session = try await session(fixture)
      let user = try await fixture.update(#"{"email":"B@example.com"}"#, session).user
      #expect(user.email == "a@example.com" && user.emailVerified == true)
      #expect(try fixture.subjects == [Self.confirmation, Self.request])
      #expect(try fixture.tokenMessage().required("to").string() == "b@example.com")
      #expect(try fixture.message().required("to").string() == "a@example.com")
      #expect(try await login(fixture, "a@example.com") == nil)
      #expect(try await login(fixture, "b@example.com") == .refused(.invalidCredentials))
      let token = try fixture.sentToken()
      #expect(await verify(fixture, token) == nil)
      let changed = try await fixture.provider.currentUser(accessToken: session.tokens.accessToken)
      #expect(changed.email == "b@example.com" && changed.emailVerified == true)
      #expect(try fixture.subjects == [Self.request, "Your e-mail address was changed"])
      #expect(try fixture.message().required("to").string() == "a@example.com")
      #expect(try await login(fixture, "b@example.com") == nil)
      #expect(try await login(fixture, "a@example.com") == .refused(.invalidCredentials))
      #expect(await verify(fixture, token) == Self.badToken)
      let events = try await fixture.provider.auditEvents()
      #expect(events.count { $0 == "emailChangeRequested" } == 1 && events.count { $0 == "emailChanged" } == 1)
    }
  }

  @Test func `a mistyped address changes nothing, and is forgotten after a day`() async throws {
    try await ProviderFixture.run(Self.required) { fixture in
      let session = try await session(fixture)
      #expect(await change(fixture, #"{"email":"b@exmaple.com"}"#, session) == nil)
      let token = try fixture.sentToken()
      fixture.clock.advance(.seconds(86_400))
      #expect(await verify(fixture, token) == Self.badToken)
      #expect(try await login(fixture, "a@example.com") == nil)
      fixture.clock.advance(.seconds(60))
      #expect(try await login(fixture, "a@example.com") == nil)
      #expect(try await fixture.number("SELECT count(*) FROM mail_token") == 0)
    }
  }

  @Test func `another address takes the place of the one that waits, and the present one gives it up`() async throws {
    try await ProviderFixture.run(Self.required) { fixture in
      let session = try await session(fixture)
      #expect(await change(fixture, #"{"email":"b@example.com"}"#, session) == nil)
      let first = try fixture.sentToken()
      #expect(await change(fixture, #"{"email":"c@example.com"}"#, session) == nil)
      #expect(try fixture.subjects.count { $0 == Self.confirmation } == 1)
      let second = try fixture.sentToken()
      #expect(await verify(fixture, first) == Self.badToken)
      #expect(await change(fixture, #"{"email":"a@example.com"}"#, session) == nil)
      #expect(try !fixture.subjects.contains(Self.confirmation))
      #expect(await verify(fixture, second) == Self.badToken)
      #expect(try await address(fixture, session) == "a@example.com")
    }
  }

  @Test func `an address that another account has by then is taken`() async throws {
    try await ProviderFixture.run(Self.required) { fixture in
      let session = try await session(fixture)
      #expect(await change(fixture, #"{"email":"b@example.com"}"#, session) == nil)
      let token = try fixture.sentToken()
      _ = try await fixture.provider.register(
        Registration(email: "b@example.com", password: try Secret(utf8: ProviderFixture.password)))
      #expect(await verify(fixture, token) == .refused(.emailTaken))
      #expect(await change(fixture, #"{"email":"b@example.com"}"#, session) == .refused(.emailTaken))
      #expect(try await address(fixture, session) == "a@example.com")
    }
  }

  /// What ends the change of an address.
  enum Ending: CaseIterable {
    case password, disabled, loggedOutEverywhere, revoked
  }

  @Test(arguments: Ending.allCases)
  func `an address that waits is given up with the old password, and with all sessions`(_ ending: Ending) async throws {
    try await ProviderFixture.run(Self.required) { fixture in
      let session = try await session(fixture)
      #expect(await change(fixture, #"{"email":"b@example.com"}"#, session) == nil)
      let token = try fixture.sentToken()
      switch ending {
      case .disabled: _ = try await fixture.provider.setEnabled(false, user: "a@example.com")
      case .loggedOutEverywhere: try await fixture.provider.revoke(session.tokens, everywhere: true)
      case .revoked: _ = try await fixture.provider.revokeSessions(of: "a@example.com", session: nil)
      case .password:
        _ = try await fixture.provider.changePassword(
          from: try Secret(utf8: ProviderFixture.password), to: try Secret(utf8: "another real password"),
          accessToken: session.tokens.accessToken)
      }
      #expect(try !fixture.subjects.contains(Self.confirmation))
      #expect(await verify(fixture, token) == Self.badToken)
    }
  }

  @Test func `where no token can be sent, nothing is changed`() async throws {
    let limit: (inout LocalProviderConfiguration) -> Void = {
      $0.emailVerification = .required
      $0.messageLimits.perHour = 1
    }
    try await ProviderFixture.run(limit) { fixture in
      let session = try await session(fixture)
      let changes = #"{"name":"Bob","email":"b@example.com"}"#
      #expect(await change(fixture, changes, session) == .refused(.rateLimited, retryAfter: .seconds(3600)))
      let user = try await fixture.provider.currentUser(accessToken: session.tokens.accessToken)
      #expect(user.name == nil && fixture.outbox.isEmpty)
    }
  }

  @Test func `a login that waits for a code at the old address ends with the change, and not before`() async throws {
    try await ProviderFixture.run(Self.required) { fixture in
      let session = try await session(fixture)
      #expect(await change(fixture, #"{"twoFactor":"email"}"#, session) == nil)
      let first = try await fixture.login()
      let code = try fixture.sentCode()
      #expect(await change(fixture, #"{"email":"b@example.com"}"#, session) == nil)
      let token = try fixture.sentToken()
      #expect(await fixture.verify(first, code) == nil)
      let second = try await fixture.login()
      let late = try fixture.sentCode()
      #expect(await verify(fixture, token) == nil)
      #expect(await fixture.verify(second, late) == .refused(.flowNotFound))
      #expect(try await fixture.login("b@example.com").maskedDestination == "b•••@example.com")
    }
  }
}
