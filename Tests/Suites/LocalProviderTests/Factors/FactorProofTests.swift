import BrokerCore
import BrokerProtocol
import SecretMemory
import TestSupport
import Testing

@testable import LocalProvider

/// Phone numbers and e-mail addresses that are proven by a code before login codes go there.
@Suite(.standardTimeLimit) struct FactorProofTests {
  private static let other = "+491511234568"

  private func confirm(
    _ fixture: ProviderFixture, _ update: ProfileUpdate, _ code: Secret
  ) async throws -> ProviderFailure? {
    let flow = try #require(update.enrolment?.flow)
    return await failure { () throws(ProviderFailure) in
      try await fixture.provider.confirmEnrolment(flow: flow, code: code)
    }
  }

  @Test func `a number whose code never came back keeps no user out, and counts from its first code on`() async throws {
    try await ProviderFixture.run { fixture in
      let challenge = try await fixture.challenge()
      #expect(challenge.method == .sms && challenge.maskedDestination == "+49 ••• ••67")
      let session = try await fixture.provider.login(fixture.credentials("b@example.com")).session
      #expect(session.user?.twoFactor == "off" && session.user?.phoneNumberMasked == "+49 ••• ••67")
      let update = try await fixture.update(#"{"twoFactor":"sms"}"#, session)
      #expect(update.user.twoFactor == "off")
      #expect(update.enrolment?.method == .sms && update.enrolment?.maskedDestination == "+49 ••• ••67")
      #expect(update.enrolment?.otpLength == 6 && update.enrolment?.uri == nil)
      #expect(try fixture.subjects == ["Your login code", "Your confirmation code"])
      try await fixture.prove(update)
      #expect(try await fixture.login("b@example.com").method == .sms)
      #expect(try await fixture.provider.users().first?.twoFactor == .sms)
      #expect(try fixture.subjects == ["Your second factor was changed", "Your login code"])
    }
  }

  @Test(arguments: [SecondFactor.sms, .email])
  func `a factor that is sent codes counts from its first right code on`(_ factor: SecondFactor) async throws {
    try await ProviderFixture.run { fixture in
      let session = try await fixture.session()
      let changes = #"{"twoFactor":"\#(factor.rawValue)","phoneNumber":"\#(ProviderFixture.phone)"}"#
      let update = try await fixture.update(changes, session)
      #expect(update.user.twoFactor == "off" && update.enrolment?.attemptsRemaining == 5)
      #expect(update.enrolment?.expiresAt == fixture.clock.now + .seconds(300))
      _ = try await fixture.provider.login(fixture.credentials()).session
      let code = try fixture.sentCode()
      let wrong = try Secret(utf8: code == Secret(utf8: "000000") ? "000001" : "000000")
      #expect(try await confirm(fixture, update, wrong) == .refused(.otpInvalid, attemptsRemaining: 4))
      #expect(try await confirm(fixture, update, Secret(utf8: "12345")) == .refused(.otpInvalid, attemptsRemaining: 4))
      await fixture.provider.shutDown()
      #expect(try await confirm(fixture, update, code) == nil)
      #expect(try await confirm(fixture, update, code) == .refused(.flowNotFound))
      #expect(try await fixture.login().method == factor.method)
      let user = try await fixture.provider.currentUser(accessToken: session.tokens.accessToken)
      #expect(user.twoFactor == factor.rawValue && user.emailVerified == (factor == .email))
    }
  }

  @Test func `what is proven already counts at once`() async throws {
    try await ProviderFixture.run { fixture in
      let session = try await fixture.proven("a@example.com")
      for (factor, isProven) in [("off", true), ("sms", true), ("email", false)] {
        let update = try await fixture.update(#"{"twoFactor":"\#(factor)"}"#, session)
        #expect((update.enrolment == nil) == isProven && update.user.twoFactor == (isProven ? factor : "sms"))
      }
    }
  }

  @Test func `another number gets the login codes once it is proven, and the present one till then`() async throws {
    try await ProviderFixture.run { fixture in
      let session = try await fixture.session(secondFactor: .sms)
      let update = try await fixture.update(#"{"phoneNumber":"\#(Self.other)"}"#, session)
      #expect(update.user.phoneNumberMasked == "+49 ••• ••67" && update.enrolment?.maskedDestination == "+49 ••• ••68")
      #expect(try await fixture.login().maskedDestination == "+49 ••• ••67")
      let code = try #require(try fixture.code(of: "Your confirmation code"))
      #expect(try await confirm(fixture, update, code) == nil)
      #expect(try await fixture.login().maskedDestination == "+49 ••• ••68")
      #expect(try fixture.subjects.contains("Your phone number was changed"))
      // And none where the factor changes elsewhere: one change at a time.
      let both = #"{"phoneNumber":"\#(ProviderFixture.phone)","twoFactor":"totp"}"#
      let refused = await failure { () throws(ProviderFailure) in try await fixture.update(both, session) }
      #expect(refused == .refused(.validationFailed, fields: ["phoneNumber"]))
    }
  }

  @Test func `another address gets the login codes once it is verified, and the present one till then`() async throws {
    try await ProviderFixture.run { fixture in
      let session = try await fixture.session(secondFactor: .email)
      let update = try await fixture.update(#"{"email":"new@example.com"}"#, session)
      #expect(update.user.email == "a@example.com" && update.enrolment == nil)
      #expect(try await fixture.login().maskedDestination == "a•••@example.com")
      try await fixture.provider.verifyEmail(token: try fixture.sentToken())
      #expect(try await fixture.login("new@example.com").maskedDestination == "n•••@example.com")
    }
  }

  @Test(arguments: [
    ("email", #"{"email":"new@example.com"}"#), ("sms", #"{"phoneNumber":"\#(other)"}"#),
    ("sms", #"{"phoneNumber":null}"#),
  ])
  func `a code proves nothing of a number or an address that the account has no more`(
    _ factor: String, _ change: String
  ) async throws {
    try await ProviderFixture.run { fixture in
      let session = try await fixture.session()
      let changes = #"{"twoFactor":"\#(factor)","phoneNumber":"\#(ProviderFixture.phone)"}"#
      let update = try await fixture.update(changes, session)
      let code = try fixture.sentCode()
      _ = try await fixture.update(change, session)
      #expect(try await confirm(fixture, update, code) == .refused(.flowNotFound))
      _ = try await fixture.session("later@example.com")
    }
  }

  @Test func `what is not proven can be removed, and is no reason for a short password`() async throws {
    try await ProviderFixture.run { fixture in
      _ = try await fixture.challenge()
      let session = try await fixture.provider.login(fixture.credentials("b@example.com")).session
      let (old, short) = (try Secret(utf8: ProviderFixture.password), try Secret(utf8: "k8#mQ2xz"))
      let refused = await failure { () throws(ProviderFailure) in
        try await fixture.provider.changePassword(from: old, to: short, accessToken: session.tokens.accessToken)
      }
      #expect(refused == .refused(.validationFailed, fields: ["newPassword"]))
      #expect(try await fixture.update(#"{"phoneNumber":null}"#, session).user.phoneNumberMasked == nil)
    }
  }

  @Test func `codes that prove a number have the limits of login codes`() async throws {
    let limit: (inout LocalProviderConfiguration) -> Void = { $0.messageLimits.perHour = 2 }
    try await ProviderFixture.run(limit) { fixture in
      let session = try await fixture.session()
      let changes = #"{"twoFactor":"sms","phoneNumber":"\#(ProviderFixture.phone)"}"#
      for _ in 1...2 { _ = try await fixture.update(changes, session) }
      #expect(try fixture.subjects.count { $0 == "Your confirmation code" } == 1, "the newest alone")
      let refused = await failure { () throws(ProviderFailure) in try await fixture.update(changes, session) }
      #expect(refused == .refused(.rateLimited, retryAfter: .seconds(3600)))
    }
  }
}
