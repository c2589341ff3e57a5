import BrokerCore
import BrokerProtocol
import SecretMemory
import TestSupport
import Testing

@testable import LocalProvider

/// How many messages one address gets, whichever accounts ask for them.
@Suite(.standardTimeLimit) struct DestinationLimitTests {
  private static let contested = "+4915112345678"

  /// What comes of a registration with a phone number; nil where it is sent a code.
  private func register(
    _ fixture: ProviderFixture, _ email: String, _ phone: String = Self.contested
  ) async throws -> ProviderFailure? {
    let registration = Registration(
      email: email, password: try Secret(utf8: ProviderFixture.password), phoneNumber: phone)
    return await failure { () throws(ProviderFailure) in try await fixture.provider.register(registration) }
  }

  private func login(_ fixture: ProviderFixture) async throws -> ProviderFailure? {
    let credentials = try fixture.credentials("b@example.com")
    return await failure { () throws(ProviderFailure) in try await fixture.provider.login(credentials) }
  }

  @Test func `a number is sent ten codes in an hour, and what is refused makes no account`() async throws {
    try await ProviderFixture.run { fixture in
      for account in 1...10 { #expect(try await register(fixture, "\(account)@example.com") == nil) }
      let refused = try await register(fixture, "11@example.com")
      #expect(refused == .refused(.rateLimited, retryAfter: .seconds(3600)))
      let count = try await fixture.number("SELECT count(*) FROM account")
      #expect(count == 10)
      let other = try await register(fixture, "12@example.com", "+4915112345679")
      #expect(other == nil)
      fixture.clock.advance(.seconds(3600))
      let later = try await register(fixture, "11@example.com")
      #expect(later == nil)
    }
  }

  @Test func `who uses a number up keeps no code from its owner, but from who chooses it then`() async throws {
    try await ProviderFixture.run { fixture in
      let session = try await fixture.proven(phone: Self.contested)
      for account in 2...10 { #expect(try await register(fixture, "\(account)@example.com") == nil) }
      #expect(try await register(fixture, "11@example.com")?.kind == .rateLimited)
      #expect(try await login(fixture) == nil)
      let other = "+4915112345679"
      for account in 12...21 { #expect(try await register(fixture, "\(account)@example.com", other) == nil) }
      let chosen = await failure { () throws(ProviderFailure) in
        try await fixture.update(#"{"phoneNumber":"\#(other)"}"#, session)
      }
      #expect(chosen == .refused(.rateLimited, retryAfter: .seconds(3600)))
      #expect(try await login(fixture) == nil, "its own number stays")
    }
  }

  @Test func `messages of accounts that are gone count for their number still`() async throws {
    try await ProviderFixture.run { fixture in
      let password = try Secret(utf8: ProviderFixture.password)
      for _ in 1...10 {
        let session = try await fixture.proven(phone: Self.contested)
        try await fixture.provider.deleteAccount(password: password, accessToken: session.tokens.accessToken)
      }
      #expect(
        try await register(fixture, "b@example.com") == .refused(.rateLimited, retryAfter: .seconds(3600)))
      fixture.clock.advance(.seconds(86_400))
      #expect(try await register(fixture, "b@example.com") == nil)
      #expect(try await fixture.number("SELECT count(*) FROM sent_code") == 1)
    }
  }

  @Test func `numbers that were not verified have a limit together, which concerns no other one`() async throws {
    let limit: (inout LocalProviderConfiguration) -> Void = { $0.messageLimits.perHour = 2 }
    try await ProviderFixture.run(limit) { fixture in
      _ = try await fixture.proven(phone: Self.contested)
      for account in 2...60 {
        #expect(try await register(fixture, "\(account)@example.com", "+49151\(1_000_000 + account)") == nil)
      }
      let refused = try await register(fixture, "61@example.com", "+491511000061")
      #expect(refused == .refused(.rateLimited, retryAfter: .seconds(3600)))
      #expect(try await login(fixture) == nil)
    }
  }

  @Test func `a forgotten password is no matter of how many others have forgotten theirs`() async throws {
    let limit: (inout LocalProviderConfiguration) -> Void = { $0.messageLimits.perHour = 3 }
    try await ProviderFixture.run(limit) { fixture in
      let addresses = (1...MessageLimits.overallFactor + 2).map { "\($0)@example.com" }
      for address in addresses { _ = try await fixture.session(address) }
      for address in addresses { try await fixture.provider.forgotPassword(email: address) }
      #expect(try fixture.subjects.count { $0 == "Reset your password" } == addresses.count)
    }
  }

  @Test func `no phone number or address is in what is counted`() async throws {
    try await ProviderFixture.run { fixture in
      _ = try await fixture.challenge(phone: Self.contested)
      try await fixture.provider.forgotPassword(email: "b@example.com")
      let counted: StaticString = "SELECT count(*) FROM sent_code WHERE length(destination) = 32"
      #expect(try await fixture.number(counted) == 1)
      let readable: StaticString = """
        SELECT count(*) FROM sent_code
        WHERE instr(destination, CAST('example' AS BLOB)) > 0 OR instr(destination, CAST('49151' AS BLOB)) > 0
        """
      #expect(try await fixture.number(readable) == 0)
    }
  }

  @Test func `a loop of changes floods no mailbox, and what was not told is in the audit`() async throws {
    let limit: (inout LocalProviderConfiguration) -> Void = {
      $0.messageLimits.perHour = 2
      $0.accessTokenLifetime = .seconds(7200)
    }
    try await ProviderFixture.run(limit) { fixture in
      let session = try await fixture.session(secondFactor: .email)
      for factor in ["off", "email", "off", "email"] {
        let user = try await fixture.update(#"{"twoFactor":"\#(factor)"}"#, session).user
        #expect(user.twoFactor == factor)
      }
      #expect(try fixture.subjects == Array(repeating: "Your second factor was changed", count: 2))
      #expect(try await fixture.provider.auditEvents().count { $0 == "noticeDropped" } == 3)
      // Notices take nothing from codes.
      _ = try await fixture.login()
      fixture.clock.advance(.seconds(3600))
      _ = try await fixture.update(#"{"twoFactor":"off"}"#, session)
      #expect(try fixture.subjects.count == 3)
    }
  }

  @Test func `who asks for tokens keeps the next one from the account's owner for an hour at most`() async throws {
    try await ProviderFixture.run { fixture in
      _ = try await fixture.session()
      for _ in 1...24 {
        for _ in 1...4 { try await fixture.provider.forgotPassword(email: "a@example.com") }
        #expect(fixture.outbox.count == 1)
        fixture.clock.advance(.seconds(3600))
      }
      try await fixture.provider.forgotPassword(email: "a@example.com")
      #expect(fixture.outbox == ["00000073.json"])
    }
  }
}
