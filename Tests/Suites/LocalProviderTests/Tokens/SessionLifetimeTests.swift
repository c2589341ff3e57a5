import BrokerCore
import BrokerProtocol
import JSON
import Sealing
import SecretMemory
import TestSupport
import Testing
import TextCoding

@testable import LocalProvider

/// How long sessions live, and what their tokens say of them.
@Suite(.standardTimeLimit) struct SessionLifetimeTests {
  private static let idle: @Sendable (inout LocalProviderConfiguration) -> Void = {
    $0.refreshTokenLifetime = .seconds(10_000)
    $0.refreshTokenIdleLifetime = .seconds(3000)
  }

  private func refresh(_ fixture: ProviderFixture, _ tokens: TokenSet) async -> ProviderFailure? {
    guard let token = tokens.refreshToken else { return .unsupported }
    return await failure { () throws(ProviderFailure) in try await fixture.provider.refresh(token) }
  }

  @Test func `a session that is not used ends before its time`() async throws {
    try await ProviderFixture.run(Self.idle) { fixture in
      let tokens = try await fixture.session().tokens
      #expect(tokens.refreshTokenExpiresAt == fixture.clock.now + .seconds(3000))
      fixture.clock.advance(.seconds(3000))
      #expect(await refresh(fixture, tokens) == .sessionEnded(.refreshTokenExpired))
    }
  }

  @Test func `each use of a session puts its end off, but not beyond its time`() async throws {
    try await ProviderFixture.run(Self.idle) { fixture in
      var tokens = try await fixture.session().tokens
      let end = fixture.clock.now + .seconds(10_000)
      for _ in 1...3 {
        fixture.clock.advance(.seconds(2999))
        tokens = try await fixture.provider.refresh(try #require(tokens.refreshToken))
        #expect(tokens.refreshTokenExpiresAt == min(fixture.clock.now + .seconds(3000), end))
      }
      fixture.clock.advance(.seconds(1003))
      #expect(await refresh(fixture, tokens) == .sessionEnded(.refreshTokenExpired))
    }
  }

  @Test func `an access token ends with its refresh token at the latest, so that it is refreshed in time`()
    async throws
  {
    let idle: (inout LocalProviderConfiguration) -> Void = { $0.refreshTokenIdleLifetime = .seconds(600) }
    try await ProviderFixture.run(idle) { fixture in
      let tokens = try await fixture.session().tokens
      #expect(tokens.accessTokenExpiresAt == fixture.clock.now + .seconds(600))
    }
  }

  @Test func `a revoked session is forgotten after a week, and its tokens with it`() async throws {
    try await ProviderFixture.run { fixture in
      let session = try await fixture.session()
      _ = try await fixture.provider.refresh(try #require(session.tokens.refreshToken))
      try await fixture.provider.revoke(session.tokens, everywhere: false)
      fixture.clock.advance(.seconds(7 * 86_400))
      _ = try await fixture.provider.users()
      #expect(try await fixture.number("SELECT count(*) FROM refresh_token") == 2)
      fixture.clock.advance(.seconds(60))
      _ = try await fixture.provider.users()
      #expect(try await fixture.number("SELECT count(*) FROM refresh_token") == 0)
      #expect(try await fixture.number("SELECT count(*) FROM token_family") == 0)
    }
  }

  @Test func `a replayed token is audited, and ends its family alone`() async throws {
    try await ProviderFixture.run { fixture in
      let other = try await fixture.session().tokens
      let first = try await fixture.provider.login(try fixture.credentials()).session.tokens
      let second = try await fixture.provider.refresh(try #require(first.refreshToken))
      #expect(await refresh(fixture, first) == .sessionEnded(.refreshRejected, alert: .refreshTokenReuse))
      #expect(await refresh(fixture, second) == .sessionEnded(.refreshRejected))
      #expect(await refresh(fixture, other) == nil)
      #expect(try await fixture.provider.auditEvents().count { $0 == "refreshReused" } == 1)
    }
  }

  @Test func `a token says whom it is for, when its user has logged in, and how`() async throws {
    try await ProviderFixture.run { fixture in
      let login = fixture.clock.now.milliseconds / 1000
      let first = try await fixture.session().tokens
      fixture.clock.advance(.seconds(500))
      let second = try await fixture.provider.refresh(try #require(first.refreshToken))
      for tokens in [first, second] {
        let claims = try claims(tokens)
        #expect(try claims.required("iss").string() == "authbroker-local")
        #expect(try claims.required("aud").string() == "authbroker")
        #expect(try claims.required("auth_time").integer() == login)
        #expect(try claims.required("amr").elements().map { try $0.string() } == ["pwd"])
        #expect(try !claims.required("jti").string().isEmpty)
      }
      let sessions = try [first, second].map { try claims($0).required("sid").string() }
      #expect(sessions[0] == sessions[1])
    }
  }

  @Test(
    arguments: [
      (.sms, ["pwd", "sms", "mfa"]), (.email, ["pwd", "otp", "mfa"]),
    ] as [(SecondFactor, [String])])
  func `a token says which kind of code was given`(_ factor: SecondFactor, _ methods: [String]) async throws {
    try await ProviderFixture.run { fixture in
      _ = try await fixture.session(secondFactor: factor)
      let challenge = try await fixture.login()
      let session = try await fixture.provider.verifyOTP(flow: challenge.flow, code: try fixture.sentCode())
      #expect(try claims(session.tokens).required("amr").elements().map { try $0.string() } == methods)
    }
  }

  @Test func `a code of an app and a backup code are one-time codes`() async throws {
    try await ProviderFixture.run { fixture in
      let (session, app) = try await fixture.enrolled()
      let backupCode = try #require(try await fixture.backupCodes(session).first)
      let first = try await fixture.provider.verifyOTP(
        flow: try await fixture.login().flow, code: try fixture.code(app))
      let second = try await fixture.provider.verifyBackupCode(
        flow: try await fixture.login().flow, code: backupCode)
      for session in [first, second] {
        let methods = try claims(session.tokens).required("amr").elements().map { try $0.string() }
        #expect(methods == ["pwd", "otp", "mfa"])
      }
    }
  }

  private func claims(_ tokens: TokenSet) throws -> JSONNode {
    let text = try #require(tokens.accessToken.value.revealedString())
    let payload = Array(text.utf8.split(separator: UInt8(ascii: "."))[1])
    let bytes = Base64.decodeURLForm(payload.span)
    return try JSONDocument(parsing: #require(bytes)).root
  }
}
