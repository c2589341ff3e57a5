import BrokerCore
import BrokerProtocol
import HTTP
import HTTPMessage
import SecretMemory
import TestSupport
import Testing

@testable import OIDCProvider

/// Whatever a provider or a browser sends, nothing traps, and nothing is taken for what it is not.
@Suite(.standardTimeLimit) struct FuzzTests {
  private static let token = #"""
    {"access_token":"made-up","token_type":"Bearer","expires_in":300,"refresh_token":"made-up-too","scope":"openid x",\#
    "refresh_expires_in":1800,"id_token":"eyJhbGciOiJSUzI1NiJ9.eyJzdWIiOiJ1MSJ9.eA"}
    """#
  private static let odd: [[UInt8]] = [
    [0xFF], [0xC0, 0x80], [0xED, 0xA0, 0x80], [0], Array("1e400".utf8), Array(#"\ud800"#.utf8), Array("null".utf8),
    Array("[[[[".utf8), Array("}".utf8), Array("\"".utf8), Array("99999999999999999999999".utf8), Array("-0".utf8),
    Array("{\"a\":1,\"a\":2}".utf8), Array("\u{202E}".utf8), Array("%".utf8), Array("\r\n".utf8),
  ]

  /// A text with a few changes: cut, bytes exchanged, oddities put in.
  private static func changed(_ text: [UInt8], _ random: inout SeededGenerator) -> [UInt8] {
    var bytes = text
    for _ in 0..<Int.random(in: 1...3, using: &random) {
      let place = Int.random(in: 0...bytes.count, using: &random)
      switch Int.random(in: 0..<4, using: &random) {
      case 0: bytes.removeSubrange(place...)
      case 1: if place < bytes.count { bytes[place] = UInt8.random(in: 0...255, using: &random) }
      case 2: bytes.insert(contentsOf: odd.randomElement(using: &random) ?? [], at: place)
      default:
        let end = Int.random(in: place...bytes.count, using: &random)
        bytes.replaceSubrange(place..<end, with: odd.randomElement(using: &random) ?? [])
      }
    }
    return bytes
  }

  private static func response(_ body: [UInt8], status: Int = 200, fields: String = "") -> FakeProvider.Reply {
    let head = "HTTP/1.1 \(status) X\r\n\(fields)Content-Length: \(body.count)\r\nConnection: close\r\n\r\n"
    return FakeProvider.Reply(raw: Array(head.utf8) + body)
  }

  @Test(arguments: [1, 2, 3, 4] as [UInt64])
  func `a changed token reply is a session, or invalid`(_ seed: UInt64) async throws {
    var random = SeededGenerator(seed: seed)
    for _ in 0..<60 {
      let body = Self.changed(Array(Self.token.utf8), &random)
      try await withProvider(reply: Self.response(body)) { provider, _ in
        let token = try BoundToken(secret("rt"))
        let found = await failure { () throws(ProviderFailure) in try await provider.refresh(token) }
        #expect(Self.isHarmless(found), "\(String(decoding: body, as: UTF8.self))")
        let target = TokenTarget(scopes: ["x"], audience: "urn:x")
        let other = await failure { () throws(ProviderFailure) in
          try await provider.accessToken(for: target, refreshToken: token)
        }
        #expect(Self.isHarmless(other) && other?.kind == found?.kind, "\(String(decoding: body, as: UTF8.self))")
      }
    }
  }

  /// Whether an answer to a refresh, changed at random, gave tokens, or nothing that ends a session.
  private static func isHarmless(_ failure: ProviderFailure?) -> Bool {
    switch failure {
    case nil, .transient(.invalidResponse, nil, nil), .outcomeUnknown(.invalidResponse, nil), .rotated: true
    case .rejected(let rejection): rejection.kind == .invalidResponse
    default: false
    }
  }

  @Test(arguments: [1, 2] as [UInt64])
  func `a changed reply to anything else is what was asked for, or invalid`(_ seed: UInt64) async throws {
    var random = SeededGenerator(seed: seed)
    let device =
      #"{"device_code":"d","user_code":"A-B","verification_uri":"https://x.example/","expires_in":900,"interval":5}"#
    let user =
      #"{"sub":"u1","email":"ann@example.com","email_verified":true,"name":"Ann","phone_number":"+15550100123"}"#
    for _ in 0..<30 {
      try await withProvider(reply: Self.response(Self.changed(Array(device.utf8), &random))) { provider, _ in
        let device = Credentials(method: .deviceCode)
        let found = await failure { () throws(ProviderFailure) in try await provider.login(device) }
        #expect(found == nil || found == .refused(.invalidResponse))
      }
      try await withProvider(reply: Self.response(Self.changed(Array(user.utf8), &random))) { provider, _ in
        let token = try BoundToken(secret("at"))
        let found = await failure { () throws(ProviderFailure) in try await provider.currentUser(accessToken: token) }
        #expect(found == nil || found == .refused(.invalidResponse))
      }
      let refusal = Self.changed(Array(#"{"error":"invalid_grant","error_description":"x"}"#.utf8), &random)
      try await withProvider(reply: Self.response(refusal, status: 400)) { provider, _ in
        let token = try BoundToken(secret("rt"))
        let found = await failure { () throws(ProviderFailure) in try await provider.refresh(token) }
        switch found {
        case .sessionEnded(.refreshRejected, nil, _), .transient(.providerRejected, nil, nil),
          .transient(.invalidResponse, nil, nil), .rejected:
          break
        default: Issue.record("\(String(describing: found))")
        }
      }
    }
  }

  @Test func `what is too much, too deep or no HTTP is invalid`() async throws {
    let deep = [UInt8](repeating: UInt8(ascii: "["), count: 500_000)
    let nested = Array(#"{"access_token":"#.utf8) + deep
    let huge =
      Array("{\"access_token\":\"".utf8) + [UInt8](repeating: UInt8(ascii: "a"), count: 900_000) + Array("\"}".utf8)
    let flood = (0..<500).map { "X-\($0): y\r\n" }.joined()
    let long = "X: " + String(repeating: "y", count: 100_000) + "\r\n"
    let replies = [
      Self.response(nested), Self.response(huge), Self.response([UInt8](repeating: 0x20, count: 2 << 20)),
      Self.response(Array(Self.token.utf8), fields: flood), Self.response(Array(Self.token.utf8), fields: long),
      FakeProvider.Reply(raw: Array("garbage\r\n\r\n".utf8)), FakeProvider.Reply(raw: [0xFF, 0xFE, 0, 0x0A]),
      FakeProvider.Reply(raw: Array("HTTP/1.1 99999 X\r\n\r\n".utf8)),
    ]
    for (index, reply) in replies.enumerated() {
      try await withProvider(reply: reply) { provider, _ in
        let (token, ann) = (try BoundToken(secret("rt")), try Credentials.ann())
        let refresh = await failure { () throws(ProviderFailure) in try await provider.refresh(token) }
        #expect(refresh?.kind == .invalidResponse, "\(index)")
        if case .sessionEnded = refresh { Issue.record("a session ended") }
        let login = await failure { () throws(ProviderFailure) in try await provider.login(ann) }
        #expect(login?.kind == .invalidResponse, "\(index)")
      }
    }
  }

  @Test(arguments: [1, 2, 3] as [UInt64])
  func `changed metadata name no endpoint that is not called`(_ seed: UInt64) {
    var random = SeededGenerator(seed: seed)
    let dialect = OIDCDialect(type: "oidc", issuer: "https://op.example.com")
    let text = Array(document("https://op.example.com").utf8)
    for _ in 0..<2000 {
      guard let metadata = try? ProviderMetadata(Self.changed(text, &random), of: dialect) else { continue }
      #expect(metadata.issuer == dialect.issuer)
      #expect(metadata.endpoints.values.allSatisfy { $0.scheme == .https })
    }
  }

  @Test(arguments: [1, 2, 3] as [UInt64])
  func `a changed ID token is this user's, or nobody's`(_ seed: UInt64) throws {
    var random = SeededGenerator(seed: seed)
    let checker = IDToken(dialect: OIDCDialect(type: "oidc", issuer: "https://op.example.com"), clientID: "cli")
    let claims = #"{"iss":"https://op.example.com","sub":"u1","aud":"cli","exp":1800000600,"email":"ann@example.com"}"#
    let now = Timestamp(milliseconds: 1_800_000_000_000)
    for _ in 0..<1000 {
      let changed = String(decoding: Self.changed(Array(claims.utf8), &random), as: UTF8.self)
      var whole = Self.changed(Array(idToken(claims).utf8), &random)
      _ = checker.examined(try secret(idToken(changed)), nonce: nil, at: now)
      _ = checker.examined(try Secret(wiping: &whole), nonce: nil, at: now)
    }
    #expect(try checker.examined(try secret(idToken(claims)), nonce: nil, at: now).get().user.id == "u1")
  }

  @Test(arguments: [1, 2, 3] as [UInt64])
  func `no changed request to the loopback address ends the wait without its state`(_ seed: UInt64) throws {
    var random = SeededGenerator(seed: seed)
    let redirect = try #require(LoopbackRedirect("http://127.0.0.1:8400/callback"))
    let flow = try RedirectFlow(
      redirect, port: 8400, scopes: [], namesIssuer: false, at: Timestamp(milliseconds: 1_800_000_000_000))
    let judge = RedirectJudge(flow: flow, dialect: OIDCDialect(type: "oidc", issuer: "https://op.example.com"))
    let good = "GET /callback?code=c&state=\(flow.state) HTTP/1.1\r\nHost: 127.0.0.1:8400\r\nA: b\r\n\r\n"
    for _ in 0..<3000 {
      let bytes = Self.changed(Array(good.utf8), &random)
      var request = RedirectRequest()
      let progress = request.read(bytes.span)
      guard case .complete = progress, case .code = judge.judge(request) else { continue }
      let text = String(decoding: bytes, as: UTF8.self)
      #expect(text.contains("Host: 127.0.0.1:8400") && request.method == "GET" && request.path == "/callback")
      #expect(request.values()?["state"].map { String(decoding: $0, as: UTF8.self) } == flow.state)
    }
  }

  @Test(arguments: [1, 2, 3] as [UInt64])
  func `a changed handle is a login, or none`(_ seed: UInt64) throws {
    var random = SeededGenerator(seed: seed)
    let redirect = try #require(LoopbackRedirect("http://127.0.0.1:8400/callback"))
    let now = Timestamp(milliseconds: 1_800_000_000_000)
    let flow = try RedirectFlow(redirect, port: 8400, scopes: ["a"], namesIssuer: true, at: now)
    let handle = try PendingFlow.redirect(flow).handle()
    guard case .redirect(let again) = try PendingFlow(handle) else {
      Issue.record("a handle is read again")
      return
    }
    #expect(again.state == flow.state && again.nonce == flow.nonce && again.verifier == flow.verifier)
    #expect(again.port == 8400 && again.scopes == ["a"] && again.namesIssuer && again.expiresAt == flow.expiresAt)
    let text = Array(try #require(handle.revealedString()).utf8)
    for _ in 0..<1000 {
      var changed = Self.changed(text, &random)
      _ = try PendingFlow(try Secret(wiping: &changed))
    }
  }
}
