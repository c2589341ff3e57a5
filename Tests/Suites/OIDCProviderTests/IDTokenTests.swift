import BrokerCore
import BrokerProtocol
import SecretMemory
import TestSupport
import Testing

@testable import OIDCProvider

/// ID tokens that came straight from the token endpoint.
@Suite(.standardTimeLimit) struct IDTokenTests {
  private static let now = Timestamp(milliseconds: 1_800_000_000_000)
  private static let end = 1_800_000_600

  private func user(
    _ claims: String, header: String = #"{"alg":"RS256"}"#, nonce: String? = nil,
    _ dialect: OIDCDialect = OIDCDialect(type: "oidc", issuer: "https://op.example.com")
  ) throws -> User? {
    let token = try secret(idToken(claims, header: header))
    return try? IDToken(dialect: dialect, clientID: "cli").examined(token, nonce: nonce, at: Self.now).get().user
  }

  private static let good = #""iss":"https://op.example.com","sub":"u1","aud":"cli","exp":1800000600"#

  @Test func `who the user is stands in it`() throws {
    let user = try user(
      "{\(Self.good),\"email\":\"ann@example.com\",\"email_verified\":true,\"name\":\"Ann\\u202e\",\"phone_number\":\"+15550100123\"}"
    )
    #expect(
      user
        == User(
          id: "u1", email: "ann@example.com", emailVerified: true, name: "Ann", phoneNumberMasked: "+•••••••••23"))
    #expect(try self.user("{\(Self.good),\"preferred_username\":\"ann\",\"email_verified\":\"true\"}")?.name == "ann")
  }

  @Test(arguments: [
    #""iss":"https://op.example.com/","sub":"u1","aud":"cli","exp":1800000600"#,
    #""sub":"u1","aud":"cli","exp":1800000600"#, #""iss":7,"sub":"u1","aud":"cli","exp":1800000600"#,
    #""iss":"https://op.example.com","sub":"u1","aud":"other","exp":1800000600"#,
    #""iss":"https://op.example.com","sub":"u1","exp":1800000600"#,
    #""iss":"https://op.example.com","sub":"u1","aud":[],"exp":1800000600"#,
    #""iss":"https://op.example.com","sub":"u1","aud":["cli","other"],"azp":"other","exp":1800000600"#,
    #""iss":"https://op.example.com","sub":"u1","aud":"cli","azp":"other","exp":1800000600"#,
    #""iss":"https://op.example.com","sub":"u1","aud":"cli","azp":7,"exp":1800000600"#,
    #""iss":"https://op.example.com","sub":"u1","aud":"cli""#,
    #""iss":"https://op.example.com","sub":"u1","aud":"cli","exp":1799999000"#,
    #""iss":"https://op.example.com","sub":"u1","aud":"cli","exp":1e300"#,
    #""iss":"https://op.example.com","sub":"u1","aud":"cli","exp":"soon""#,
    #""iss":"https://op.example.com","sub":"u1","aud":"cli","exp":"1799999000""#,
    #""iss":"https://op.example.com","sub":"u1","aud":"cli","exp":1800000600,"nbf":"1800009999""#,
    #""iss":"https://op.example.com","sub":"u1","aud":"cli","exp":1800000600,"nbf":1800009999"#,
    #""iss":"https://op.example.com","sub":"u1","aud":"cli","exp":1800000600,"nbf":null"#,
    #""iss":"https://op.example.com","aud":"cli","exp":1800000600"#,
    #""iss":"https://op.example.com","sub":"","aud":"cli","exp":1800000600"#,
    #""iss":"https://op.example.com","sub":"u\u202e1","aud":"cli","exp":1800000600"#,
  ])
  func `one that is not this login's is refused`(_ claims: String) throws {
    #expect(try user("{\(claims)}") == nil)
  }

  @Test func `times may be strings of digits, and one without an end says so`() throws {
    let rest = #""iss":"https://op.example.com","sub":"u1","aud":"cli""#
    let times = #""exp":"1800000600","nbf":"1799999990","iat":"1799999990""#
    #expect(try user("{\(rest),\(times)}") != nil)
    let token = IDToken(dialect: OIDCDialect(type: "oidc", issuer: "https://op.example.com"), clientID: "cli")
    guard case .failure(let flaw) = token.examined(try secret(idToken("{\(rest)}")), nonce: nil, at: Self.now) else {
      return #expect(Bool(false))
    }
    #expect("\(flaw)" == "endless")
  }

  @Test(arguments: [("exp", -299, true), ("exp", -301, false), ("nbf", 299, true), ("nbf", 301, false)])
  func `the provider's clock may be off by five minutes and no more`(_ claim: String, _ offset: Int, _ isGood: Bool)
    throws
  {
    let moment = Int(Self.now.milliseconds / 1000) + offset
    let times = claim == "exp" ? "\"exp\":\(moment)" : "\"exp\":\(Self.end),\"nbf\":\(moment)"
    #expect((try user("{\"iss\":\"https://op.example.com\",\"sub\":\"u1\",\"aud\":\"cli\",\(times)}") != nil) == isGood)
  }

  @Test func `audiences may be many where this client is the authorised one`() throws {
    let claims = #"{"iss":"https://op.example.com","sub":"u1","aud":["x","cli"],"azp":"cli","exp":1800000600}"#
    #expect(try user(claims)?.id == "u1")
    #expect(try user(#"{"iss":"https://op.example.com","sub":"u1","aud":["cli"],"exp":1800000600}"#) != nil)
    // Errata set 2 of OpenID Connect Core wants no `azp` for that.
    #expect(try user(#"{"iss":"https://op.example.com","sub":"u1","aud":["x","cli"],"exp":1800000600}"#)?.id == "u1")
  }

  @Test func `a number that 64 bits cannot hold is no reason to refuse it`() throws {
    #expect(try user("{\(Self.good),\"quota\":123456789012345678901234567890,\"x\":1e999}")?.id == "u1")
  }

  @Test func `the nonce of the login must be in it`() throws {
    #expect(try user("{\(Self.good),\"nonce\":\"n1\"}", nonce: "n1") != nil)
    #expect(try user("{\(Self.good),\"nonce\":\"n2\"}", nonce: "n1") == nil)
    #expect(try user("{\(Self.good)}", nonce: "n1") == nil)
    #expect(try user("{\(Self.good),\"nonce\":null}", nonce: "n1") == nil)
  }

  @Test(arguments: [#"{"alg":"none"}"#, #"{"alg":"None"}"#, "{}", #"{"alg":""}"#, #"{"alg":7}"#, "[]", "x"])
  func `one that claims to be unsigned is refused`(_ header: String) throws {
    #expect(try user("{\(Self.good)}", header: header) == nil)
  }

  @Test(arguments: ["", ".", "..", "a.b.c", "a..c", "e30.e30", "e30.e30.e30.e30", "é.é.é", "e30=.e30=.x"])
  func `what is no token is refused`(_ text: String) throws {
    let dialect = OIDCDialect(type: "oidc", issuer: "https://op.example.com")
    let checker = IDToken(dialect: dialect, clientID: "cli")
    #expect(throws: IDTokenFlaw.self) { try checker.examined(try secret(text), nonce: nil, at: Self.now).get() }
  }

  @Test func `Google may leave the scheme out of its name`() throws {
    let claims = #"{"iss":"accounts.google.com","sub":"10769150350006150715113082367","aud":"cli","exp":1800000600}"#
    #expect(try user(claims, .google)?.id == "10769150350006150715113082367")
    #expect(try user(claims) == nil)
  }

  @Test func `a login with a bad one fails, a refresh only loses it`() async throws {
    let reply = #"{"access_token":"at","refresh_token":"rt2","id_token":"\#(idToken("{}"))"}"#
    try await withProvider(reply: FakeProvider.Reply(200, reply)) { provider, server in
      let ann = try Credentials.ann()
      #expect(
        await failure { () throws(ProviderFailure) in try await provider.login(ann) } == RefusalTests.flawed(.issuer))
      // No session will use its tokens.
      #expect(server.requests(at: "/revoke").map { $0.form["token"] } == ["rt2", "at"])
      let tokens = try await provider.refresh(BoundToken(secret("rt1")))
      #expect(try tokens.idToken == nil && tokens.refreshToken?.value == secret("rt2"))
    }
  }
}
