import BrokerCore
import BrokerProtocol
import JSON
import Sealing
import SecretMemory
import TestSupport
import Testing
import TextCoding

@testable import LocalProvider

@Suite(.standardTimeLimit) struct LocalProviderTokenTests {
  @Test func `an access token is a JSON Web Token that the public key verifies`() async throws {
    try await ProviderFixture.run { fixture in
      let scopes = ["read", "write"]
      let user = try #require(try await fixture.session().user)
      var credentials = try fixture.credentials()
      credentials.scopes = scopes
      let tokens = try await fixture.provider.login(credentials).session.tokens
      #expect(tokens.scopes == scopes)
      #expect(tokens.accessTokenExpiresAt == fixture.clock.now + .seconds(900))
      #expect(tokens.refreshTokenExpiresAt == fixture.clock.now + .seconds(2_592_000))
      #expect(tokens.refreshToken?.value.byteCount == 43)
      let key = try await fixture.provider.publicKey()
      let text = try #require(tokens.accessToken.value.revealedString())
      let parts = text.utf8.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false).map { Array($0) }
      try #require(parts.count == 3)
      let signed = parts[0] + [UInt8(ascii: ".")] + parts[1]
      let last = parts[2]
      let signatureBytes = Base64.decodeURLForm(last.span)
      let signature = try #require(signatureBytes)
      let isValid = key.isValid(signature: signature.span, for: signed.span)
      #expect(isValid)
      let header = try json(parts[0])
      #expect(try header.required("alg").string() == "EdDSA")
      #expect(try header.required("kid").string().isEmpty == false)
      let claims = try json(parts[1])
      #expect(try claims.required("iss").string() == "authbroker-local")
      #expect(try claims.required("sub").string() == user.id)
      #expect(try claims.required("iat").integer() == 1_800_000_000)
      #expect(try claims.required("exp").integer() == 1_800_000_900)
      #expect(try claims.required("scope").string() == "read write")
    }
  }

  @Test func `a thousand access tokens have a thousand identifiers`() throws {
    try Sealing.initialize()
    let signer = AccessTokenSigner(key: try .random())
    let now = Timestamp(milliseconds: 0)
    let identifiers = try (1...1000).map { _ in
      let claims = AccessTokenClaims(subject: "s", family: "f", issuedAt: now, expiresAt: now)
      let text = try #require(try signer.sign(claims).revealedString())
      let payload = Array(text.utf8.split(separator: UInt8(ascii: "."))[1])
      return try json(payload).required("jti").string()
    }
    #expect(Set(identifiers).count == 1000)
  }

  @Test func `a token of another key or with another byte is nobody's`() throws {
    try Sealing.initialize()
    let signer = AccessTokenSigner(key: try .random())
    let now = Timestamp(milliseconds: 0)
    let claims = AccessTokenClaims(
      subject: "s", family: "f", issuedAt: now, expiresAt: now, authTime: now, scopes: "a b")
    let token = try signer.sign(claims)
    #expect(signer.claims(of: token) == claims)
    #expect(AccessTokenSigner(key: try .random()).claims(of: token) == nil)
    let bytes = Array(try #require(token.revealedString()).utf8)
    for index in bytes.indices {
      var changed = bytes
      changed[index] = changed[index] == UInt8(ascii: "A") ? UInt8(ascii: "Q") : UInt8(ascii: "A")
      let forged = try Secret(copying: changed.span)
      #expect(signer.claims(of: forged) == nil, "byte \(index)")
    }
    for text in ["", ".", "..", "...", "a.b.c"] { #expect(signer.claims(of: try Secret(utf8: text)) == nil) }
  }

  @Test func `a refresh rotates the token and keeps the end`() async throws {
    try await ProviderFixture.run { fixture in
      let first = try await fixture.session().tokens
      fixture.clock.advance(.seconds(1000))
      let second = try await fixture.provider.refresh(try #require(first.refreshToken))
      #expect(second.refreshToken != first.refreshToken)
      #expect(second.accessToken != first.accessToken)
      #expect(second.refreshTokenExpiresAt == first.refreshTokenExpiresAt)
      #expect(second.accessTokenExpiresAt == fixture.clock.now + .seconds(900))
      let third = try await fixture.provider.refresh(try #require(second.refreshToken))
      #expect(third.refreshToken != second.refreshToken)
    }
  }

  @Test func `a spent refresh token ends its family, and no other`() async throws {
    try await ProviderFixture.run { fixture in
      let other = try await fixture.session().tokens
      let first = try await fixture.provider.login(try fixture.credentials()).session.tokens
      let second = try await fixture.provider.refresh(try #require(first.refreshToken))
      #expect(await refresh(fixture, first) == .sessionEnded(.refreshRejected, alert: .refreshTokenReuse))
      #expect(await refresh(fixture, second) == .sessionEnded(.refreshRejected))
      #expect(await refresh(fixture, first) == .sessionEnded(.refreshRejected))
      #expect(await user(fixture, second) == .tokenRefused)
      #expect(await user(fixture, other) == nil)
      #expect(await refresh(fixture, other) == nil)
      let events = try await fixture.provider.auditEvents()
      #expect(events.count { $0 == "refreshReused" } == 1, "a session ends once: \(events)")
      #expect(try await fixture.number("SELECT count(*) FROM token_family WHERE revoked_at IS NOT NULL") == 1)
    }
  }

  @Test func `a revoked family stays revoked after a restart`() async throws {
    try await ProviderFixture.run { fixture in
      let first = try await fixture.session().tokens
      let second = try await fixture.provider.refresh(try #require(first.refreshToken))
      _ = await refresh(fixture, first)
      await fixture.provider.shutDown()
      #expect(await refresh(fixture, second) == .sessionEnded(.refreshRejected))
    }
  }

  @Test func `of refreshes at once with one token one succeeds`() async throws {
    try await ProviderFixture.run { fixture in
      let tokens = try await fixture.session().tokens
      let (provider, token) = (fixture.provider, try #require(tokens.refreshToken))
      let failures = await withTaskGroup(of: ProviderFailure?.self) { group in
        for _ in 1...20 {
          group.addTask { await failure { () throws(ProviderFailure) in try await provider.refresh(token) } }
        }
        return await group.reduce(into: []) { $0.append($1) }
      }
      #expect(failures.count { $0 == nil } == 1)
      #expect(failures.count { $0 == .sessionEnded(.refreshRejected, alert: .refreshTokenReuse) } == 1)
    }
  }

  @Test func `a refresh token ends when its login said so`() async throws {
    try await ProviderFixture.run { fixture in
      var tokens = try await fixture.session().tokens
      fixture.clock.advance(.seconds(2_591_900))
      tokens = try await fixture.provider.refresh(try #require(tokens.refreshToken))
      // The access token does not outlive it.
      #expect(tokens.accessTokenExpiresAt == tokens.refreshTokenExpiresAt)
      fixture.clock.advance(.seconds(100))
      #expect(await refresh(fixture, tokens) == .sessionEnded(.refreshTokenExpired))
      fixture.clock.advance(.seconds(8 * 86_400))
      #expect(await refresh(fixture, tokens) == .sessionEnded(.refreshRejected))
      #expect(try await fixture.number("SELECT count(*) FROM refresh_token") == 0)
    }
  }

  @Test func `an unknown refresh token is rejected`() async throws {
    try await ProviderFixture.run { fixture in
      let token = try BoundToken(Secret(utf8: "no refresh token"))
      let refused = await failure { () throws(ProviderFailure) in try await fixture.provider.refresh(token) }
      #expect(refused == .sessionEnded(.refreshRejected))
    }
  }

  @Test func `an access token tells whose it is until it ends`() async throws {
    try await ProviderFixture.run { fixture in
      let session = try await fixture.session()
      #expect(try await fixture.provider.currentUser(accessToken: session.tokens.accessToken) == session.user)
      fixture.clock.advance(.seconds(899))
      #expect(await user(fixture, session.tokens) == nil)
      fixture.clock.advance(.seconds(1))
      #expect(await user(fixture, session.tokens) == .tokenRefused)
    }
  }

  @Test func `a revocation ends one session, or all of the user`() async throws {
    try await ProviderFixture.run { fixture in
      let stranger = try await fixture.session("c@example.com").tokens
      let first = try await fixture.session().tokens
      let second = try await fixture.provider.login(try fixture.credentials()).session.tokens
      let third = try await fixture.provider.login(try fixture.credentials()).session.tokens
      try await fixture.provider.revoke(first, everywhere: false)
      try await fixture.provider.revoke(first, everywhere: false)
      #expect(await refresh(fixture, first) == .sessionEnded(.refreshRejected))
      #expect(await user(fixture, first) == .tokenRefused)
      #expect(await user(fixture, second) == nil)
      // The access token alone will do.
      let accessTokenOnly = TokenSet(
        accessToken: second.accessToken.value, accessTokenExpiresAt: nil, refreshToken: nil)
      fixture.clock.advance(.seconds(5000))
      try await fixture.provider.revoke(accessTokenOnly, everywhere: true)
      #expect(await refresh(fixture, third) == .sessionEnded(.refreshRejected))
      #expect(await refresh(fixture, stranger) == nil)
      let foreign = TokenSet(accessToken: try Secret(utf8: "x"), accessTokenExpiresAt: nil, refreshToken: nil)
      try await fixture.provider.revoke(foreign, everywhere: true)
    }
  }

  @Test func `no token is in the database`() async throws {
    try await ProviderFixture.run { fixture in
      let tokens = try await fixture.session().tokens
      let secrets = [tokens.accessToken, try #require(tokens.refreshToken)].compactMap { $0.value.revealedString() }
      for name in ["db.sqlite", "db.sqlite-wal"] {
        let bytes = try fixture.contents(name)
        #expect(!bytes.isEmpty)
        for secret in secrets + [ProviderFixture.password] { #expect(!bytes.contains(Array(secret.utf8))) }
      }
    }
  }

  @Test(arguments: ["a b", "a\"", "", "ä"])
  func `a scope that is no word is refused`(scope: String) async throws {
    try await ProviderFixture.run { fixture in
      var credentials = try fixture.credentials()
      credentials.scopes = ["good", scope]
      let asked = credentials
      let refused = await failure { () throws(ProviderFailure) in try await fixture.provider.login(asked) }
      #expect(refused == .refused(.validationFailed, fields: ["scopes"]))
    }
  }

  private func json(_ part: [UInt8]) throws -> JSONNode {
    let bytes = Base64.decodeURLForm(part.span)
    return try JSONDocument(parsing: #require(bytes)).root
  }

  private func refresh(_ fixture: ProviderFixture, _ tokens: TokenSet) async -> ProviderFailure? {
    guard let token = tokens.refreshToken else { return .unsupported }
    return await failure { () throws(ProviderFailure) in try await fixture.provider.refresh(token) }
  }

  private func user(_ fixture: ProviderFixture, _ tokens: TokenSet) async -> ProviderFailure? {
    await failure { () throws(ProviderFailure) in
      try await fixture.provider.currentUser(accessToken: tokens.accessToken)
    }
  }
}
