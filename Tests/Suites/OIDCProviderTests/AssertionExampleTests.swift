import BrokerCore
import BrokerProtocol
import ConfigurationFile
import HTTP
import JOSE
import JSON
import ProviderKit
import SecretMemory
import Signing
import TestServers
import TestSupport
import Testing
import TextCoding

@testable import OIDCProvider

/// The examples of RFC 7523: their requests as this client sends them, and their token as it is read.
@Suite(.standardTimeLimit) struct AssertionExampleTests {
  /// Section 4: the claims, and the header, of an assertion.
  private static let claims = """
    {"iss":"https://jwt-idp.example.com",
     "sub":"mailto:mike@example.com",
     "aud":"https://jwt-rp.example.net",
     "nbf":1300815780,
     "exp":1300819380,
     "http://claims.example.com/member":true}
    """
  private static let header = #"{"alg":"ES256","kid":"16"}"#
  /// Section 2.2: the ends that the example shows of a client's assertion, without what it omits.
  private static let clientAssertion = "eyJhbGciOiJSUzI1NiIsImtpZCI6IjIyIn0.eyJpc3Mi.cC4hiUPo"
  private static let file = SecretReference("assertion", .file("/t"), .assertion)

  /// The token of section 4, signed with a key.
  private static func token(_ key: SigningKey) throws -> String {
    let header = Base64.encode(Array(header.utf8).span, as: .url)
    return try #require(try key.token(Array(claims.utf8).span, header: header).revealedString())
  }

  /// Runs a test with a provider whose assertions come from a file, in the time of the examples.
  private func run(
    _ assertion: String, at seconds: Int64 = 1_300_815_780, isClients: Bool = false, grant: MachineGrant? = nil,
    _ body: (OIDCProvider, FakeProvider) async throws -> Void
  ) async throws {
    let reply = FakeProvider.Reply(200, #"{"access_token":"at","token_type":"Bearer"}"#)
    try await FakeProvider.run(always: reply) { server in
      var dialect = OIDCDialect(type: "oidc", issuer: server.issuer, scopes: [], methods: [.browser])
      dialect.usesDiscovery = false
      dialect.endpoints = [.token: server.issuer + "/token.oauth2", .authorization: server.issuer + "/authorize"]
      dialect.grant = grant
      let configuration = OIDCProfileConfiguration(
        dialect: dialect, clientID: "cli",
        clientAssertion: isClients ? .issued(.reference(Self.file), .jwtBearer) : nil,
        clientAuthentication: isClients ? .assertion : .none)
      let client = try HTTPClient(version: "test", proxy: .none, timeouts: .patient)
      let result: Result<Void, any Error>
      do {
        let provider = try OIDCProvider(
          configuration, client: client,
          secrets: { _ in Result { try Secret(utf8: assertion) }.mapError { _ in .transient(.overloaded) } },
          clock: { Timestamp(milliseconds: seconds * 1000) })
        result = .success(try await body(provider, server))
      } catch { result = .failure(error) }
      await client.close()
      try result.get()
    }
  }

  @Test func `section 2.2: a client shows its assertion beside a code`() async throws {
    try await run(Self.clientAssertion, isClients: true) { provider, server in
      let action = try #require(try await provider.login(Credentials(method: .browser)).action)
      let visit = try BrowserVisit(action)
      async let session = provider.awaitRedirect(flow: action.flow)
      _ = try await visit.open("/callback?code=n0esc3NRze7LTCu7iYzS6a5acc3f0ogp4&state=\(visit.state)")
      _ = try await session
      let request = try #require(server.requests(at: "/token.oauth2").first)
      #expect(request.method == "POST" && request.fields["authorization"] == nil)
      #expect(request.fields["content-type"]?.hasPrefix("application/x-www-form-urlencoded") == true)
      let body = request.body
      #expect(body.hasPrefix("grant_type=authorization_code&code=n0esc3NRze7LTCu7iYzS6a5acc3f0ogp4&"), "\(body)")
      let shown =
        "&client_assertion_type=urn%3Aietf%3Aparams%3Aoauth%3Aclient-assertion-type%3Ajwt-bearer"
        + "&client_assertion=\(Self.clientAssertion)"
      #expect(body.contains(shown), "\(body)")
    }
  }

  @Test func `sections 2.1 and 4: an assertion is a grant, until it expires`() async throws {
    let key = try SigningKey.random()
    let token = try Self.token(key)
    #expect(token.hasPrefix("eyJhbGciOiJFUzI1NiIsImtpZCI6IjE2In0.eyJpc3Mi"))
    let grant = MachineGrant.jwtBearer(.assertion(.reference(Self.file)))
    try await run(token, grant: grant) { provider, server in
      _ = try await provider.tokens(for: TokenTarget(), showing: [], boundTo: nil)
      let body = try #require(server.requests(at: "/token.oauth2").first).body
      let wanted = "grant_type=urn%3Aietf%3Aparams%3Aoauth%3Agrant-type%3Ajwt-bearer&assertion=\(token)"
      #expect(body.hasPrefix(wanted), "\(body)")
    }
    try await run(token, at: 1_300_819_380, grant: grant) { provider, server in
      let refusal = await failure { () throws(ProviderFailure) in
        try await provider.tokens(for: TokenTarget(), showing: [], boundTo: nil)
      }
      #expect(refusal?.kind == .missingCredential && server.requests.isEmpty)
    }
  }

  @Test func `section 4: the claims are read, and the signature is the key's`() throws {
    let key = try SigningKey.random()
    let token = try secret(try Self.token(key))
    let isRead = UnverifiedToken.claims(of: token) { claims in
      #expect(claims.text("iss") == "https://jwt-idp.example.com" && claims.text("sub") == "mailto:mike@example.com")
      #expect(claims.audiences == ["https://jwt-rp.example.net"])
      #expect(claims.numericDate("nbf") == Timestamp(milliseconds: 1_300_815_780_000))
      #expect(claims["http://claims.example.com/member"]?.kind == .true)
      return true
    }
    #expect(isRead == true)
    #expect(UnverifiedToken.span(of: token)?.end == Timestamp(milliseconds: 1_300_819_380_000))
    for (other, isItsOwn) in [(key, true), (try SigningKey.random(), false)] {
      let header = Base64.encode(Array(Self.header.utf8).span, as: .url)
      let isSigned = try CompactJWS.isSigned(token, header: header) { signature, message throws(KeyFault) in
        try other.publicKey.isValid(signature: signature, for: message)
      }
      #expect(isSigned == isItsOwn)
    }
  }
}
