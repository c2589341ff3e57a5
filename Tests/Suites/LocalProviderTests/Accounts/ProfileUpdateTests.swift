import BrokerCore
import BrokerProtocol
import JSON
import SecretMemory
import TestSupport
import Testing

@testable import LocalProvider

/// What users change of their accounts.
@Suite(.standardTimeLimit) struct ProfileUpdateTests {
  /// What comes of changes; nil where they are made.
  private func refusal(
    _ fixture: ProviderFixture, _ changes: String, _ session: ProviderSession
  ) async -> ProviderFailure? {
    await failure { () throws(ProviderFailure) in try await fixture.update(changes, session) }
  }

  @Test func `every change counts at once, and null or an empty string removes`() async throws {
    try await ProviderFixture.run { fixture in
      let session = try await fixture.session()
      let changed = try await fixture.update(
        #"{"name":"Ada L.","email":" Ada@Example.com","phoneNumber":"+49 151 1234567"}"#, session)
      #expect(changed.enrolment == nil)
      #expect(changed.user.name == "Ada L." && changed.user.email == "ada@example.com")
      #expect(changed.user.phoneNumberMasked == "+49 ••• ••67" && changed.user.emailVerified == false)
      #expect(changed.user.id == session.user?.id)
      #expect(try await fixture.provider.currentUser(accessToken: session.tokens.accessToken) == changed.user)
      let removed = try await fixture.update(#"{"name":null,"phoneNumber":""}"#, session).user
      #expect(removed.name == nil && removed.phoneNumberMasked == nil && removed.email == "ada@example.com")
      _ = try await fixture.provider.login(try fixture.credentials("ada@example.com")).session
    }
  }

  @Test func `every wrong member is named, and nothing is changed`() async throws {
    try await ProviderFixture.run { fixture in
      let session = try await fixture.session()
      let name = String(repeating: "n", count: 257)
      let changes =
        #"{"name":"\#(name)","email":"nobody","phoneNumber":"0151 1234567","twoFactor":"fax","id":"x","password":"y"}"#
      #expect(
        await refusal(fixture, changes, session)
          == .refused(
            .validationFailed, fields: ["name", "email", "phoneNumber", "twoFactor", "id", "password"]))
      #expect(
        await refusal(fixture, #"{"name":"Bob","email":null,"twoFactor":true}"#, session)
          == .refused(.validationFailed, fields: ["email", "twoFactor"]))
      #expect(try await fixture.provider.currentUser(accessToken: session.tokens.accessToken) == session.user)
    }
  }

  @Test(
    arguments: [
      (#"{"twoFactor":"sms"}"#, ["twoFactor"]), (#"{"twoFactor":"sms","phoneNumber":null}"#, ["twoFactor"]),
      (#"{"twoFactor":"sms","phoneNumber":"1"}"#, ["phoneNumber"]),
      (#"{"twoFactor":"sms","phoneNumber":"+491511234567"}"#, []), (#"{"twoFactor":"email"}"#, []),
      (#"{"twoFactor":"off"}"#, []),
    ] as [(String, [String])])
  func `codes by SMS need a phone number`(_ changes: String, _ wrong: [String]) async throws {
    try await ProviderFixture.run { fixture in
      let session = try await fixture.session()
      let expected: ProviderFailure? = wrong.isEmpty ? nil : .refused(.validationFailed, fields: wrong)
      #expect(await refusal(fixture, changes, session) == expected)
    }
  }

  @Test func `the phone number that gets the codes is not removed alone`() async throws {
    try await ProviderFixture.run { fixture in
      let session = try await fixture.session(secondFactor: .sms)
      #expect(
        await refusal(fixture, #"{"phoneNumber":null}"#, session)
          == .refused(.validationFailed, fields: ["phoneNumber"]))
      #expect(await refusal(fixture, #"{"name":"Ada"}"#, session) == nil)
      #expect(await refusal(fixture, #"{"phoneNumber":null,"twoFactor":"off"}"#, session) == nil)
      _ = try await fixture.provider.login(try fixture.credentials()).session
    }
  }

  @Test func `codes by e-mail go to the verified address`() async throws {
    let verifies: (inout LocalProviderConfiguration) -> Void = { $0.emailVerification = .required }
    try await ProviderFixture.run(verifies) { fixture in
      let registration = Registration(email: "a@example.com", password: try Secret(utf8: ProviderFixture.password))
      guard case .emailVerificationRequired = try await fixture.provider.register(registration) else {
        throw UnexpectedOutcome()
      }
      try await fixture.provider.verifyEmail(token: try fixture.sentToken())
      let session = try await fixture.provider.login(try fixture.credentials()).session
      #expect(await refusal(fixture, #"{"twoFactor":"email"}"#, session) == nil)
      // The codes go to the present address until the new one is verified.
      #expect(await refusal(fixture, #"{"email":"b@example.com"}"#, session) == nil)
      #expect(await refusal(fixture, #"{"twoFactor":"off"}"#, session) == nil)
      try await fixture.change("UPDATE account SET email_verified_at = NULL")
      #expect(try await fixture.update(#"{"twoFactor":"email"}"#, session).enrolment?.method == .email)
      #expect(await refusal(fixture, #"{"email":"c@example.com"}"#, session) == nil)
    }
  }

  @Test func `an address that is another account's is taken, and the other changes are not made`() async throws {
    try await ProviderFixture.run { fixture in
      _ = try await fixture.session("b@example.com")
      let session = try await fixture.session()
      #expect(
        await refusal(fixture, #"{"name":"Bob","email":"B@example.com"}"#, session) == .refused(.emailTaken))
      #expect(try await fixture.provider.currentUser(accessToken: session.tokens.accessToken) == session.user)
      #expect(await refusal(fixture, #"{"email":"A@example.com"}"#, session) == nil)
    }
  }

  @Test func `the owner is told at the address that was theirs`() async throws {
    try await ProviderFixture.run { fixture in
      let session = try await fixture.session()
      _ = try await fixture.update(#"{"name":"Bob"}"#, session)
      #expect(fixture.outbox.isEmpty)
      _ = try await fixture.update(
        #"{"email":"b@example.com","phoneNumber":"+491511234567","twoFactor":"sms"}"#, session)
      #expect(
        try fixture.subjects == [
          "Your confirmation code", "Your phone number was changed", "Your e-mail address was changed",
        ])
      #expect(try fixture.message().required("to").string() == "a@example.com")
      let events = try await fixture.provider.auditEvents()
      #expect(events.suffix(3) == ["emailChanged", "phoneNumberChanged", "codeSent"])
    }
  }

  @Test(arguments: [#"{"phoneNumber":"+491511234568"}"#, #"{"email":"c@example.com"}"#, #"{"twoFactor":"email"}"#])
  func `a login that waits for a code ends where codes go elsewhere`(_ changes: String) async throws {
    try await ProviderFixture.run { fixture in
      let session = try await fixture.session(secondFactor: .sms)
      let challenge = try await fixture.login()
      let code = try fixture.sentCode()
      let update = try await fixture.update(changes, session)
      if update.enrolment != nil { try await fixture.prove(update) }
      #expect(await fixture.verify(challenge, code) == .refused(.flowNotFound))
      #expect(try !fixture.subjects.contains("Your login code"))
    }
  }

  @Test func `an app that is given up is forgotten`() async throws {
    try await ProviderFixture.run { fixture in
      let (session, _) = try await fixture.enrolled()
      _ = try await fixture.update(#"{"twoFactor":"off"}"#, session)
      #expect(try await fixture.number("SELECT count(*) FROM totp") == 0)
      _ = try await fixture.provider.login(try fixture.credentials()).session
    }
  }

  @Test func `without a good access token nothing is changed`() async throws {
    try await ProviderFixture.run { fixture in
      let session = try await fixture.session()
      try await fixture.provider.revoke(session.tokens, everywhere: false)
      #expect(await refusal(fixture, #"{"name":"Bob"}"#, session) == .tokenRefused)
    }
  }
}
