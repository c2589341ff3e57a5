import BrokerCore
import BrokerProtocol
import SecretMemory
import TestSupport
import Testing

@testable import LocalProvider

/// Authenticator apps that show themselves by a first code.
@Suite(.standardTimeLimit) struct EnrolmentTests {
  private func begin(_ fixture: ProviderFixture, _ session: ProviderSession) async throws -> ProviderEnrolment {
    try #require(try await fixture.update(#"{"twoFactor":"totp"}"#, session).enrolment)
  }

  private func confirm(
    _ fixture: ProviderFixture, _ enrolment: ProviderEnrolment, _ code: Secret
  ) async -> ProviderFailure? {
    await failure { () throws(ProviderFailure) in
      try await fixture.provider.confirmEnrolment(flow: enrolment.flow, code: code)
    }
  }

  @Test func `an app counts from its first right code on`() async throws {
    try await ProviderFixture.run { fixture in
      let session = try await fixture.session()
      let enrolment = try await begin(fixture, session)
      #expect(enrolment.expiresAt == fixture.clock.now + .seconds(600) && enrolment.attemptsRemaining == 5)
      let uri = try #require(enrolment.uri?.revealedString())
      #expect(uri.hasPrefix("otpauth://totp/AuthBroker:a%40example.com?secret="))
      _ = try await fixture.provider.login(try fixture.credentials()).session
      let app = try fixture.app(enrolment)
      let user = try await fixture.provider.confirmEnrolment(flow: enrolment.flow, code: try fixture.code(app))
      #expect(session.user?.twoFactor == "off" && user.twoFactor == "totp" && user.id == session.user?.id)
      let challenge = try await fixture.login()
      #expect(challenge.method == .totp)
      // The code that the app has shown itself by is used up.
      #expect(await fixture.verify(challenge, try fixture.code(app))?.kind == .otpInvalid)
      fixture.clock.advance(.seconds(30))
      #expect(await fixture.verify(challenge, try fixture.code(app)) == nil)
      #expect(try fixture.subjects == ["Your second factor was changed"])
      #expect(try await fixture.provider.auditEvents().contains("factorChanged"))
    }
  }

  @Test func `an enrolment is used once, and goes on after a restart`() async throws {
    try await ProviderFixture.run { fixture in
      let enrolment = try await begin(fixture, try await fixture.session())
      await fixture.provider.shutDown()
      let code = try fixture.code(try fixture.app(enrolment))
      #expect(await confirm(fixture, enrolment, code) == nil)
      #expect(await confirm(fixture, enrolment, code) == .refused(.flowNotFound))
    }
  }

  @Test func `five wrong codes end an enrolment, and nothing has changed`() async throws {
    try await ProviderFixture.run { fixture in
      let enrolment = try await begin(fixture, try await fixture.session())
      let app = try fixture.app(enrolment)
      let wrong = try fixture.wrongCode(app)
      for remaining in [4, 3, 2, 1] {
        #expect(await confirm(fixture, enrolment, wrong) == .refused(.otpInvalid, attemptsRemaining: remaining))
      }
      #expect(await confirm(fixture, enrolment, wrong) == .refused(.tooManyAttempts))
      #expect(await confirm(fixture, enrolment, try fixture.code(app)) == .refused(.flowNotFound))
      _ = try await fixture.provider.login(try fixture.credentials()).session
    }
  }

  @Test(arguments: ["", "12345", "1234567", "12345a"])
  func `input that cannot be a code is not counted`(_ input: String) async throws {
    try await ProviderFixture.run { fixture in
      let enrolment = try await begin(fixture, try await fixture.session())
      for _ in 1...6 {
        #expect(
          await confirm(fixture, enrolment, try Secret(utf8: input)) == .refused(.otpInvalid, attemptsRemaining: 5))
      }
      #expect(await confirm(fixture, enrolment, try fixture.code(try fixture.app(enrolment))) == nil)
    }
  }

  @Test func `an enrolment expires after ten minutes`() async throws {
    try await ProviderFixture.run { fixture in
      let enrolment = try await begin(fixture, try await fixture.session())
      let app = try fixture.app(enrolment)
      fixture.clock.advance(.seconds(600))
      #expect(await confirm(fixture, enrolment, try fixture.code(app)) == .refused(.otpExpired))
      fixture.clock.advance(.seconds(3661))
      #expect(await confirm(fixture, enrolment, try fixture.code(app)) == .refused(.flowNotFound))
    }
  }

  @Test(arguments: [#"{"twoFactor":"totp"}"#, #"{"twoFactor":"email"}"#, #"{"twoFactor":"off"}"#])
  func `another choice of the second factor ends an enrolment`(_ choice: String) async throws {
    try await ProviderFixture.run { fixture in
      let session = try await fixture.session()
      let enrolment = try await begin(fixture, session)
      _ = try await fixture.update(choice, session)
      let code = try fixture.code(try fixture.app(enrolment))
      #expect(await confirm(fixture, enrolment, code) == .refused(.flowNotFound))
    }
  }

  @Test func `a new password ends an enrolment, whoever began it`() async throws {
    try await ProviderFixture.run { fixture in
      let session = try await fixture.session()
      let (old, new) = (try Secret(utf8: ProviderFixture.password), try Secret(utf8: "another real password"))
      let first = try await begin(fixture, session)
      _ = try await fixture.provider.changePassword(from: old, to: new, accessToken: session.tokens.accessToken)
      #expect(await confirm(fixture, first, try fixture.code(try fixture.app(first))) == .refused(.flowNotFound))
      let second = try await begin(fixture, session)
      try await fixture.provider.forgotPassword(email: "a@example.com")
      try await fixture.provider.resetPassword(token: try fixture.sentToken(), newPassword: old)
      #expect(await confirm(fixture, second, try fixture.code(try fixture.app(second))) == .refused(.flowNotFound))
      _ = try await fixture.provider.login(try fixture.credentials()).session
    }
  }

  @Test func `an account that was disabled has no enrolment any more when it is enabled`() async throws {
    try await ProviderFixture.run { fixture in
      let enrolment = try await begin(fixture, try await fixture.session())
      for isEnabled in [false, true] {
        _ = try await fixture.provider.setEnabled(isEnabled, user: "a@example.com")
      }
      let code = try fixture.code(try fixture.app(enrolment))
      #expect(await confirm(fixture, enrolment, code) == .refused(.flowNotFound))
    }
  }

  @Test func `a new app takes the place of the old one once it has shown itself`() async throws {
    try await ProviderFixture.run { fixture in
      let (session, old) = try await fixture.enrolled()
      let enrolment = try await begin(fixture, session)
      let new = try fixture.app(enrolment)
      #expect(await fixture.verify(try await fixture.login(), try fixture.code(old)) == nil)
      let waiting = try await fixture.login()
      #expect(await confirm(fixture, enrolment, try fixture.code(new)) == nil)
      fixture.clock.advance(.seconds(60))
      // A login that waits for a code of the old app has ended.
      #expect(await fixture.verify(waiting, try fixture.code(old)) == .refused(.flowNotFound))
      let challenge = try await fixture.login()
      let code = try fixture.code(new)
      if try fixture.code(old) != code {
        #expect(await fixture.verify(challenge, try fixture.code(old))?.kind == .otpInvalid)
      }
      #expect(await fixture.verify(challenge, code) == nil)
    }
  }

  @Test func `no secret of an app is in the database in the clear`() async throws {
    try await ProviderFixture.run { fixture in
      let (session, app) = try await fixture.enrolled()
      let enrolment = try await begin(fixture, session)
      let secrets = [app.secret, try fixture.app(enrolment).secret].map {
        $0.withBytes { span in span.indices.map { span[$0] } }
      }
      for name in ["db.sqlite", "db.sqlite-wal"] {
        let bytes = try fixture.contents(name)
        #expect(!bytes.isEmpty)
        for secret in secrets { #expect(!bytes.contains(secret)) }
      }
    }
  }
}
