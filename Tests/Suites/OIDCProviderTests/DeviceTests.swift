import BrokerCore
import BrokerProtocol
import SecretMemory
import Synchronization
import TestSupport
import Testing

@testable import OIDCProvider

/// Logins at another device (RFC 8628).
@Suite(.standardTimeLimit) struct DeviceTests {
  private static let code = #"""
    {"device_code":"dc+1","user_code":"WDJB-MJHT","verification_uri":"https://op.example.com/device",\#
    "verification_uri_complete":"https://op.example.com/device?user_code=WDJB-MJHT","expires_in":1800,"interval":7}
    """#

  @Test func `a user is sent to another device and waited for`() async throws {
    let polls = Atomic<Int>(0)
    try await withProvider { request, _ in
      guard request.path == "/token" else { return FakeProvider.Reply(200, Self.code) }
      switch polls.add(1, ordering: .relaxed).oldValue {
      case 0: return FakeProvider.Reply(400, #"{"error":"authorization_pending"}"#)
      case 1: return FakeProvider.Reply(400, #"{"error":"slow_down"}"#)
      case 2: return FakeProvider.Reply(428, #"{"error":"authorization_pending"}"#)
      default: return FakeProvider.Reply(200, #"{"access_token":"at","refresh_token":"rt"}"#)
      }
    } _: { provider, server in
      let begin = Timestamp(milliseconds: 0)
      let action = try #require(try await provider.login(Credentials(method: .deviceCode)).action)
      #expect(action.kind == .deviceCode && action.userCode == "WDJB-MJHT" && action.interval == .seconds(7))
      #expect(action.verificationURI == "https://op.example.com/device")
      #expect(action.verificationURIComplete == "https://op.example.com/device?user_code=WDJB-MJHT")
      #expect(action.expiresAt > begin)
      #expect(server.requests(at: "/device").map(\.body) == ["scope=openid&client_id=cli"])
      var slowed: [Bool] = []
      var session: ProviderSession?
      while session == nil {
        switch try await provider.pollUserAction(flow: action.flow) {
        case .pending(let slowsDown): slowed.append(slowsDown)
        case .authenticated(let found): session = found
        }
      }
      #expect(slowed == [false, true, false])
      #expect(session?.tokens.scopes == ["openid"])
      let form = try #require(server.requests(at: "/token").first).form
      #expect(
        form == [
          "grant_type": "urn:ietf:params:oauth:grant-type:device_code", "device_code": "dc+1", "client_id": "cli",
        ])
    }
  }

  @Test(arguments: [
    FakeProvider.Reply(400, #"{"error":{"code":"authorization_pending","message":"Wait."}}"#),
    FakeProvider.Reply(400, #"{"errors":[{"code":"authorization_pending"}]}"#),
    FakeProvider.Reply(400, #"{"error":"AUTHORIZATION_PENDING"}"#),
    FakeProvider.Reply(400, #"{"error":"authorization_pending"}"#, ["Content-Type: text/html"]),
    FakeProvider.Reply(200, #"{"error":"authorization_pending"}"#),
    FakeProvider.Reply(202, #"{"status":"pending"}"#), FakeProvider.Reply(202, "", []), FakeProvider.Reply(204, "", []),
    FakeProvider.Reply(200, #"{"status":"authorization_pending"}"#), FakeProvider.Reply(200, #"{"status":"PENDING"}"#),
  ])
  func `to wait is told in many ways`(_ reply: FakeProvider.Reply) async throws {
    try await withProvider { request, _ in
      request.path == "/token" ? reply : FakeProvider.Reply(200, Self.code)
    } _: { provider, _ in
      let flow = try #require(try await provider.login(Credentials(method: .deviceCode)).action).flow
      guard case .pending(slowsDown: false) = try await provider.pollUserAction(flow: flow) else {
        return #expect(Bool(false), "\(String(decoding: reply.bytes, as: UTF8.self))")
      }
    }
  }

  @Test func `a code of digits is its text`() async throws {
    let body = #"{"device_code":"d","user_code":12345678,"verification_uri":"https://x.example/"}"#
    try await withProvider(reply: FakeProvider.Reply(200, body)) { provider, _ in
      let action = try #require(try await provider.login(Credentials(method: .deviceCode)).action)
      #expect(action.userCode == "12345678")
    }
  }

  @Test func `what a poll brought and does not hold ends the login, and is revoked`() async throws {
    let bad = idToken(#"{"iss":"https://other.example.com","sub":"u1","aud":"cli","exp":9999999999}"#)
    let replies: [(String, ProviderFailure, [String])] = [
      (
        #"{"access_token":"at","refresh_token":"rt","id_token":"\#(bad)"}"#, RefusalTests.flawed(.issuer), ["rt", "at"]
      ),
      (#"{"access_token":"at","token_type":"BearerToken"}"#, RefusalTests.foreign("BearerToken"), []),
      (#"{"access_token":"at","refresh_token":"rt","token_type":"mac"}"#, RefusalTests.foreign("mac"), ["rt"]),
      (#"{"hint":"nothing"}"#, .rejected(ProviderRejection(.invalidResponse)), []),
    ]
    for (reply, expected, revoked) in replies {
      try await withProvider { request, _ in
        FakeProvider.Reply(200, request.path == "/token" ? reply : request.path == "/device" ? Self.code : "")
      } _: { provider, server in
        let action = try #require(try await provider.login(Credentials(method: .deviceCode)).action)
        let found = await failure { () throws(ProviderFailure) in try await provider.pollUserAction(flow: action.flow) }
        #expect(found == expected, "\(reply)")
        #expect(server.requests(at: "/revoke").map { $0.form["token"] } == revoked)
      }
    }
  }

  @Test(
    arguments: [
      (400, "access_denied", .refused(.consentDenied)), (403, "access_denied", .refused(.consentDenied)),
      (400, "authorization_declined", .refused(.consentDenied)), (400, "expired_token", .refused(.otpExpired)),
      (400, "code_expired", .refused(.otpExpired)), (400, "EXPIRED_TOKEN", .refused(.otpExpired)),
      (400, "invalid_grant", .refused(.flowNotFound)), (401, "invalid_client", .misconfigured(.client)),
      (503, "authorization_pending_not", .transient(.providerUnavailable)),
    ] as [(Int, String, ProviderFailure)])
  func `the end of it is told`(_ status: Int, _ code: String, _ expected: ProviderFailure) async throws {
    try await withProvider { request, _ in
      request.path == "/token"
        ? FakeProvider.Reply(status, #"{"error":"\#(code)"}"#) : FakeProvider.Reply(200, Self.code)
    } _: { provider, _ in
      let flow = try #require(try await provider.login(Credentials(method: .deviceCode)).action).flow
      #expect(await failure { () throws(ProviderFailure) in try await provider.pollUserAction(flow: flow) } == expected)
    }
  }

  @Test(arguments: [
    #"{"user_code":"A","verification_uri":"https://x.example/"}"#,
    #"{"device_code":"d","user_code":"A"}"#, #"{"device_code":"d","verification_uri":"https://x.example/"}"#,
    #"{"device_code":"d","user_code":"A","verification_uri":"http://x.example/"}"#,
    #"{"device_code":"d","user_code":"A","verification_uri":"javascript:alert(1)"}"#,
    #"{"device_code":"d","user_code":"A\u001b[31m","verification_uri":"https://x.example/"}"#,
    #"{"device_code":"d","user_code":"A","verification_uri":"https://x.example/\u202e"}"#, "[]", "",
  ])
  func `what must not be shown is refused`(_ body: String) async throws {
    try await withProvider(reply: FakeProvider.Reply(200, body)) { provider, _ in
      let device = Credentials(method: .deviceCode)
      #expect(
        await failure { () throws(ProviderFailure) in try await provider.login(device) } == .refused(.invalidResponse))
    }
  }

  @Test func `absurd times are cut, and missing ones are the standard`() async throws {
    for (more, interval) in [(#","expires_in":1e300,"interval":1e300"#, 60), ("", 5), (#","interval":-3"#, 5)] {
      let body = #"{"device_code":"d","user_code":"A","verification_url":"https://x.example/"\#(more)}"#
      try await withProvider(reply: FakeProvider.Reply(200, body)) { provider, _ in
        let action = try #require(try await provider.login(Credentials(method: .deviceCode)).action)
        #expect(action.interval == .seconds(interval))
        let rest = action.expiresAt - provider.clock()
        #expect(rest > .seconds(500) && rest <= .seconds(3600))
      }
    }
  }

  @Test func `a handle that is none is not known`() async throws {
    try await withProvider(reply: .notFound) { provider, server in
      for text in ["", "x", "{}", "[]", #"{"device":""}"#, #"{"device":7}"#] {
        let flow = try secret(text)
        let found = await failure { () throws(ProviderFailure) in try await provider.pollUserAction(flow: flow) }
        #expect(found == .refused(.flowNotFound) || text.contains("\"\""))
        let redirect = await failure { () throws(ProviderFailure) in try await provider.awaitRedirect(flow: flow) }
        #expect(redirect == .refused(.flowNotFound))
      }
      #expect(server.requests(at: "/authorize").isEmpty)
    }
  }
}
