import BrokerCore
import BrokerProtocol
import LinuxSystem
import SecretMemory
import Synchronization
import TestSupport
import Testing

@testable import OIDCProvider

/// A browser that comes back to a loopback address.
@Suite(.standardTimeLimit) struct RedirectTests {
  @Test func `a code is exchanged with its proof, and the browser is told so`() async throws {
    let nonce = Mutex("")
    let token: BrowserVisit.Answer = { request, issuer in
      guard request.path == "/token" else { return .notFound }
      let claims = #"{"iss":"\#(issuer)","sub":"u1","aud":"cli","exp":9999999999,"nonce":"\#(nonce.withLock { $0 })"}"#
      return FakeProvider.Reply(200, #"{"access_token":"at","refresh_token":"rt","id_token":"\#(idToken(claims))"}"#)
    }
    let (result, requests) = try await loginInBrowser(token: token) { visit, _ in
      nonce.withLock { $0 = visit.query["nonce"] ?? "" }
      #expect(visit.query["response_type"] == "code" && visit.query["code_challenge_method"] == "S256")
      #expect(visit.query["client_id"] == "cli" && visit.query["scope"] == "openid")
      #expect(visit.action.verificationURI.hasPrefix("http://127.0.0.1:"))
      #expect(visit.action.kind == .browser && visit.action.userCode == nil)
      let page = try await visit.open("/callback?code=c%2B1+2&state=\(visit.state)")
      #expect(page.hasPrefix("HTTP/1.1 200 OK\r\n") && page.contains("You're logged in"))
      for field in [
        "Content-Security-Policy: default-src 'none'; style-src 'sha256-", "Referrer-Policy: no-referrer",
        "Cache-Control: no-store", "Connection: close",
      ] { #expect(page.contains(field)) }
      for secret in ["c+1", "c%2B1", visit.state, "<script", "http://", "https://", "src="] {
        #expect(!page.contains(secret))
      }
    }
    let session = try result.get()
    #expect(session.user == User(id: "u1"))
    let form = try #require(requests.first).form
    #expect(form["grant_type"] == "authorization_code" && form["code"] == "c+1 2")
    #expect(form["code_verifier"]?.utf8.count == 43 && form["client_id"] == "cli")
    #expect(form["redirect_uri"]?.hasSuffix("/callback") == true)
    #expect(requests.count == 1)
  }

  @Test func `each login has a state, a nonce and a challenge of its own`() async throws {
    try await withProvider(answer: twoTokens) { provider, _ in
      var seen: [String: Set<String>] = [:]
      for _ in 0..<3 {
        let action = try #require(try await provider.login(Credentials(method: .browser)).action)
        let visit = try BrowserVisit(action)
        for name in ["state", "nonce", "code_challenge"] {
          let value = try #require(visit.query[name])
          #expect(value.utf8.count >= 43, "256 random bits in base64url: \(name)")
          seen[name, default: []].insert(value)
        }
        async let refusal = failure { () throws(ProviderFailure) in try await provider.awaitRedirect(flow: action.flow)
        }
        _ = try await visit.open("/callback?error=access_denied&state=\(visit.state)")
        #expect(await refusal != nil)
      }
      for (name, values) in seen { #expect(values.count == 3, "\(name)") }
      #expect(Set(seen.values.flatMap { $0 }).count == 9)
    }
  }

  @Test func `the address has what the profile adds, in place of what is usual, and the user who is named`()
    async throws
  {
    let adding: @Sendable (inout OIDCDialect) -> Void = { dialect in
      dialect.quirks.authorizationParameters = [.init("prompt", "consent"), .init("access_type", "offline")]
      dialect.parameters.authorization = [
        .init("prompt", "select_account"), .init("organization", "a&b=c"), .init("login_hint", "bob@example.com"),
        .init("x&redirect_uri", "https://other.example"),
      ]
    }
    try await withProvider(adding, answer: twoTokens) { provider, _ in
      func query(_ credentials: Credentials) async throws -> (text: String, [String: String]) {
        let action = try #require(try await provider.login(credentials).action)
        return (action.verificationURI, try BrowserVisit(action).query)
      }
      let (text, usual) = try await query(Credentials(method: .browser))
      #expect(usual["prompt"] == "select_account" && usual["access_type"] == "offline")
      #expect(text.contains("&organization=a%26b%3Dc") && usual["login_hint"] == "bob@example.com")
      #expect(text.split(separator: "prompt=").count == 2)
      #expect(text.contains("&x%26redirect_uri=https"))
      var credentials = Credentials(method: .browser, email: "ann@example.com")
      credentials.wantsFreshProof = true
      let (proof, asked) = try await query(credentials)
      #expect(asked["login_hint"] == "ann@example.com" && asked["prompt"] == "login" && asked["max_age"] == "0")
      #expect(proof.split(separator: "prompt=").count == 2 && proof.split(separator: "login_hint=").count == 2)
    }
  }

  @Test func `an ID token that nobody asked for needs no nonce`() async throws {
    let withoutOpenID: @Sendable (inout OIDCDialect) -> Void = { $0.scopes = ["a"] }
    try await withProvider(withoutOpenID) { request, issuer in
      guard request.path == "/token" else { return .notFound }
      let claims = #"{"iss":"\#(issuer)","sub":"u1","aud":"cli","exp":9999999999}"#
      return FakeProvider.Reply(200, #"{"access_token":"at","id_token":"\#(idToken(claims))"}"#)
    } _: { provider, _ in
      let action = try #require(try await provider.login(Credentials(method: .browser)).action)
      let visit = try BrowserVisit(action)
      #expect(visit.query["nonce"] == nil && visit.query["scope"] == "a")
      async let session = provider.awaitRedirect(flow: action.flow)
      _ = try await visit.open("/callback?code=c&state=\(visit.state)")
      #expect(try await session.user == User(id: "u1"))
    }
  }

  @Test func `the challenge that was shown is that of the proof`() async throws {
    let challenge = Mutex("")
    let (_, requests) = try await loginInBrowser { visit, _ in
      challenge.withLock { $0 = visit.query["code_challenge"] ?? "" }
      _ = try await visit.open("/callback?code=c&state=\(visit.state)")
    }
    let verifier = try secret(try #require(requests.first?.form["code_verifier"]))
    #expect(CodeChallenge.of(verifier) == challenge.withLock { $0 })
  }

  @Test func `nothing but the right state at the right place ends the wait`() async throws {
    let (result, requests) = try await loginInBrowser { visit, _ in
      let good = "/callback?code=c&state=\(visit.state)"
      let wrong: [(String, String)] = [
        (try await visit.open("/favicon.ico"), "404"), (try await visit.open("/"), "404"),
        (try await visit.open("/callback/?code=c&state=\(visit.state)"), "404"),
        (try await visit.open("/callback"), "400"), (try await visit.open("/callback?code=c"), "400"),
        (try await visit.open("/callback?code=c&state=x"), "400"),
        (try await visit.open("/callback?error=access_denied&state=x"), "400"),
        (try await visit.open("/callback?state=\(visit.state)"), "400"),
        (try await visit.open(good + "&state=\(visit.state)"), "400"), (try await visit.open(good + "&code=d"), "400"),
        (try await visit.open("/callback?code=%zz&state=\(visit.state)"), "400"),
        (try await visit.open("/callback?code=&state=\(visit.state)"), "400"),
        (try await visit.open("/callback?code=%00&state=\(visit.state)"), "400"),
        (try await visit.open(good, method: "POST"), "405"), (try await visit.open(good, method: "HEAD"), "405"),
        (try await visit.open(good, host: "evil.example"), "421"),
        (try await visit.open(good, host: "127.0.0.1"), "421"),
        (try await visit.open(good, host: "localhost:\(visit.port)"), "421"),
        (try await visit.open(good, host: "127.0.0.1:\(visit.port)\r\nHost: evil.example"), "400"),
        (try await visit.send("GET \(good) HTTP/1.1\r\n\r\n"), "400"),
        (try await visit.send("GET \(good)\r\n\r\n"), "400"), (try await visit.send("\r\n\r\n"), "400"),
        (try await visit.send("GET http://127.0.0.1:\(visit.port)\(good) HTTP/1.1\r\nHost: x\r\n\r\n"), "400"),
        (try await visit.send("\u{16}\u{3}\u{1}\r\n\r\n"), "400"),
        (try await visit.send("GET /callback?" + String(repeating: "x", count: 17_000)), "431"),
      ]
      for (page, status) in wrong {
        #expect(page.hasPrefix("HTTP/1.1 \(status) "), "\(page.prefix(60))")
        #expect(!page.contains(visit.state))
      }
      // What is not read may be repeated, as idpyoidc does with the scopes, or malformed.
      let page = try await visit.open(good + "&scope=a&scope=b&session_state=%zz&%zz=")
      #expect(page.hasPrefix("HTTP/1.1 200 OK\r\n"))
    }
    #expect(throws: Never.self) { try result.get() }
    #expect(requests.count == 1)
  }

  @Test(
    arguments: [
      ("access_denied", .refused(.consentDenied)), ("invalid_scope", .misconfigured(.scopes)),
      ("unauthorized_client", .misconfigured(.grant)), ("unsupported_response_type", .misconfigured(.grant)),
      ("invalid_request", .misconfigured(.request)), ("invalid_target", .misconfigured(.scopes)),
      ("request_not_supported", .misconfigured(.request)), ("request_uri_not_supported", .misconfigured(.request)),
      ("registration_not_supported", .misconfigured(.client)), ("Invalid_scope", .refused(.providerRejected)),
      ("login_required", .refused(.reauthRequired)), ("server_error", .transient(.providerUnavailable)),
      ("%3Cscript%3E", .refused(.providerRejected)),
    ] as [(String, ProviderFailure)])
  func `the provider's refusal is clear to the browser and to the caller`(_ code: String, _ expected: ProviderFailure)
    async throws
  {
    let (result, requests) = try await loginInBrowser { visit, _ in
      let page = try await visit.open("/callback?error=\(code)&error_description=%3Cb%3Emade-up&state=\(visit.state)")
      #expect(page.contains("Login failed") && !page.contains("made-up") && !page.contains("script"))
    }
    #expect(throws: expected) { try result.get() }
    #expect(requests.isEmpty)
  }

  @Test func `a code that was used before is clear to the browser and to the caller`() async throws {
    let token: BrowserVisit.Answer = { request, _ in
      request.path == "/token" ? FakeProvider.Reply(400, #"{"error":"invalid_grant"}"#) : .notFound
    }
    let (result, requests) = try await loginInBrowser(token: token) { visit, _ in
      let page = try await visit.open("/callback?code=used&state=\(visit.state)")
      #expect(page.contains("Login failed"))
    }
    #expect(throws: ProviderFailure.refused(.flowNotFound)) { try result.get() }
    #expect(requests.count == 1)
  }

  @Test func `an issuer that is announced must be named, and one that is named must be the provider's`() async throws {
    let announced = #","authorization_response_iss_parameter_supported":true"#
    for (metadata, iss, isGood) in [
      (announced, nil, false), (announced, "https://evil.example", false), ("", "https://evil.example", false),
      ("", nil, true), (announced, "own", true), ("", "own", true),
    ] as [(String, String?, Bool)] {
      let (result, requests) = try await loginInBrowser(metadata: metadata) { visit, provider in
        let name = iss == "own" ? provider.dialect.issuer : iss
        let more = name.map { "&iss=" + $0.replacing("/", with: "%2F") } ?? ""
        _ = try await visit.open("/callback?code=c&state=\(visit.state)\(more)")
      }
      #expect(((try? result.get()) != nil) == isGood)
      if !isGood { #expect(throws: ProviderFailure.refused(.invalidResponse)) { try result.get() } }
      #expect(requests.count == (isGood ? 1 : 0))
    }
  }

  @Test(
    arguments: [
      ("", .refused(.consentDenied)), ("&iss=https%3A%2F%2Fevil.example", .refused(.invalidResponse)),
    ] as [(String, ProviderFailure)])
  func `a refusal needs no issuer, but must not have another one`(_ more: String, _ expected: ProviderFailure)
    async throws
  {
    let announced = #","authorization_response_iss_parameter_supported":true"#
    let (result, _) = try await loginInBrowser(metadata: announced) { visit, _ in
      _ = try await visit.open("/callback?error=access_denied&state=\(visit.state)\(more)")
    }
    #expect(throws: expected) { try result.get() }
  }
}
