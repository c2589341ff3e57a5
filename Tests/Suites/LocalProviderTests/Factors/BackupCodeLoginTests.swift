import BrokerCore
import BrokerProtocol
import SecretMemory
import TestSupport
import Testing

@testable import LocalProvider

/// Logins that a backup code finishes.
@Suite(.standardTimeLimit) struct BackupCodeLoginTests {
  @Test func `ten codes are shown once, and each finishes one login`() async throws {
    try await ProviderFixture.run { fixture in
      let (session, _) = try await fixture.enrolled()
      let codes = try await fixture.backupCodes(session)
      #expect(codes.count == 10 && codes.allSatisfy { $0.byteCount == 11 })
      for (number, code) in codes.enumerated() {
        let challenge = try await fixture.login()
        #expect(challenge.backupCodesAllowed)
        let session = try await fixture.provider.verifyBackupCode(flow: challenge.flow, code: code)
        #expect(session.backupCodesRemaining == 9 - number)
      }
      #expect(try await fixture.login().backupCodesAllowed == false)
      let events = try await fixture.provider.auditEvents()
      #expect(events.count { $0 == "backupCodeUsed" } == 10 && events.contains("backupCodesMade"))
    }
  }

  @Test func `a code is accepted as people type it, and once`() async throws {
    try await ProviderFixture.run { fixture in
      let session = try await fixture.session(secondFactor: .email)
      let shown = try #require(try await fixture.backupCodes(session).first?.revealedString())
      let typed = try Secret(utf8: " " + shown.uppercased().replacing("-", with: " – ") + "\n")
      #expect(await fixture.verify(try await fixture.login(), backupCode: typed) == nil)
      let again = await fixture.verify(try await fixture.login(), backupCode: typed)
      #expect(again == .refused(.backupCodeInvalid, attemptsRemaining: 4))
    }
  }

  @Test func `what cannot be a backup code is not counted`() async throws {
    try await ProviderFixture.run { fixture in
      let session = try await fixture.session(secondFactor: .email)
      let code = try #require(try await fixture.backupCodes(session).first)
      let challenge = try await fixture.login()
      for text in ["", "123456", "abcde-fghi1", "abcdefghjkm", "äbcde-fghjk"] {
        #expect(
          await fixture.verify(challenge, backupCode: try Secret(utf8: text))
            == .refused(.backupCodeInvalid, attemptsRemaining: 5))
      }
      #expect(await fixture.verify(challenge, backupCode: code) == nil)
    }
  }

  @Test func `wrong codes of both kinds count together`() async throws {
    try await ProviderFixture.run { fixture in
      _ = try await fixture.session(secondFactor: .email)
      let challenge = try await fixture.login()
      let (wrong, wrongBackupCode) = (try fixture.wrongCode(), try Secret(utf8: "22222-22222"))
      for remaining in [4, 2] {
        #expect(
          await fixture.verify(challenge, backupCode: wrongBackupCode)
            == .refused(.backupCodeInvalid, attemptsRemaining: remaining))
        #expect(
          await fixture.verify(challenge, wrong) == .refused(.otpInvalid, attemptsRemaining: remaining - 1))
      }
      #expect(
        await fixture.verify(challenge, backupCode: wrongBackupCode)
          == .refused(.tooManyAttempts, retryAfter: .seconds(4)))
      #expect(await fixture.verify(challenge, wrong) == .refused(.flowNotFound))
    }
  }

  @Test func `new codes end the ones before, and another account's are none`() async throws {
    try await ProviderFixture.run { fixture in
      let session = try await fixture.session(secondFactor: .email)
      let other = try await fixture.session("c@example.com", secondFactor: .email)
      let old = try await fixture.backupCodes(session)
      let new = try await fixture.backupCodes(session)
      let foreign = try await fixture.backupCodes(other)
      let challenge = try await fixture.login()
      for code in [old[0], foreign[0]] {
        #expect(await fixture.verify(challenge, backupCode: code)?.kind == .backupCodeInvalid)
      }
      #expect(await fixture.verify(challenge, backupCode: new[0]) == nil)
    }
  }

  @Test func `only the password gives new codes, and it is guessed no faster here`() async throws {
    try await ProviderFixture.run { fixture in
      let session = try await fixture.session()
      let token = session.tokens.accessToken
      let wrong = try Secret(utf8: "another password")
      func generate(_ password: Secret, _ accessToken: BoundToken) async -> ProviderFailure? {
        await failure { () throws(ProviderFailure) in
          try await fixture.provider.generateBackupCodes(password: password, accessToken: accessToken)
        }
      }
      for _ in 1...4 { #expect(await generate(wrong, token) == .refused(.invalidCredentials)) }
      let right = try Secret(utf8: ProviderFixture.password)
      #expect(await generate(right, token) == .refused(.tooManyAttempts, retryAfter: .seconds(2)))
      fixture.clock.advance(.seconds(2))
      #expect(await generate(right, BoundToken(try Secret(utf8: "no token"))) == .tokenRefused)
      #expect(await generate(right, token) == nil)
    }
  }

  @Test func `no backup code is in the database`() async throws {
    try await ProviderFixture.run { fixture in
      let codes = try await fixture.backupCodes(try await fixture.session()).compactMap { $0.revealedString() }
      #expect(codes.count == 10)
      for name in ["db.sqlite", "db.sqlite-wal"] {
        let bytes = try fixture.contents(name)
        #expect(!bytes.isEmpty)
        for code in codes {
          #expect(!bytes.contains(Array(code.utf8)) && !bytes.contains(Array(code.replacing("-", with: "").utf8)))
        }
      }
    }
  }
}
