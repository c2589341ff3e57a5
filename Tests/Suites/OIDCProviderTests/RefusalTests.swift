import BrokerCore
import BrokerProtocol
import ProviderKit
import SecretMemory
import TestSupport
import Testing

@testable import OIDCProvider

/// What a refusal means for a session.
@Suite(.standardTimeLimit) struct RefusalTests {
  /// A status, a body, and what it means at a refresh.
  static let refreshes: [(Int, String, ProviderFailure)] = [
    (400, #"{"error":"invalid_grant"}"#, .sessionEnded(.refreshRejected)),
    (401, #"{"error":"invalid_grant","error_description":"<b>"}"#, .sessionEnded(.refreshRejected)),
    (403, #"{"error":"invalid_grant"}"#, .sessionEnded(.refreshRejected)),
    (400, "", .sessionEnded(.refreshRejected)), (401, " \r\n", .sessionEnded(.refreshRejected)),
    (400, #"{"error":"interaction_required"}"#, .reauthenticationRequired),
    (400, #"{"error":"login_required"}"#, .reauthenticationRequired),
    (400, #"{"error":"consent_required"}"#, .reauthenticationRequired),
    (403, #"{"error":"mfa_required","mfa_token":"x"}"#, .reauthenticationRequired),
    (401, #"{"error":"invalid_client"}"#, .misconfigured(.client)),
    (400, #"{"error":"unauthorized_client"}"#, .misconfigured(.grant)),
    (400, #"{"error":"invalid_scope"}"#, unclear(.scopes, "invalid_scope")),
    (400, #"{"error":"invalid_request"}"#, unclear(.request, "invalid_request")),
    (400, #"{"error":"unsupported_grant_type"}"#, unclear(.grant, "unsupported_grant_type")),
    (404, #"{"error":"invalid_client"}"#, .misconfigured(.client)),
    (403, #"{"error":"invalid_dpop_proof"}"#, unclear(.possession, "invalid_dpop_proof")),
    (400, #"{"error":"use_dpop_nonce"}"#, unclear(.possession, "use_dpop_nonce")),
    (403, #"{"error":"insufficient_authorization","auth_session":"x"}"#, .reauthenticationRequired),
    (
      400,
      #"{"error":"invalid_request","error_description":"Failed to refresh token because of multiple concurrent requests using the same token. Please retry the request."}"#,
      .transient(.providerUnavailable)
    ),
    (400, #"{"error":"invalid_request","error_hint":"Please Retry."}"#, .transient(.providerUnavailable)),
    (
      400, #"{"error":"invalid_request","error_description":"scope is missing"}"#, unclear(.request, "invalid_request")
    ),
    (403, "", .transient(.forbidden)), (404, "", .transient(.providerRejected)),
    (404, #"{"error":"invalid_grant"}"#, .sessionEnded(.refreshRejected)),
    (407, "", .transient(.networkUnavailable)), (408, "", .transient(.providerUnavailable)),
    (425, "", .transient(.providerUnavailable)), (429, "", .transient(.providerUnavailable)),
    (429, #"{"error":"invalid_grant"}"#, .transient(.providerUnavailable)),
    (500, #"{"error":"invalid_grant"}"#, .sessionEnded(.refreshRejected)),
    (502, "<html>", .outcomeUnknown(.providerUnavailable)), (504, "", .outcomeUnknown(.providerUnavailable)),
    (502, #"{"error":"invalid_grant"}"#, .transient(.providerUnavailable)),
    (504, #"{"error":"Gateway Timeout","status":504}"#, .outcomeUnknown(.providerUnavailable)),
    (503, "", .transient(.providerUnavailable)),
    (400, #"{"error":"temporarily_unavailable"}"#, .transient(.providerUnavailable)),
    (400, #"{"error":"something_else"}"#, unclear(nil, "something_else")), (400, "{}", unclear(nil, nil)),
    (400, "{\"error\":1}", unclear(nil, nil)), (401, "no", .transient(.providerRejected)),
    (400, "<html></html>", .transient(.invalidResponse)), (401, "<html></html>", .transient(.invalidResponse)),
    (302, "", .transient(.invalidResponse)), (200, "<html>", .transient(.invalidResponse)),
    (200, "", .outcomeUnknown(.invalidResponse)), (200, "[]", .outcomeUnknown(.invalidResponse)),
    (204, "", .outcomeUnknown(.invalidResponse)), (200, "Success", .outcomeUnknown(.invalidResponse)),
    (200, "{}", .outcomeUnknown(.invalidResponse)), (200, #"{"access_token":1}"#, .outcomeUnknown(.invalidResponse)),
    (200, #"{"access_token":"a b"}"#, .outcomeUnknown(.invalidResponse)),
    (200, #"{"access_token":"a","token_type":"BearerToken"}"#, foreign("BearerToken")),
    (200, #"{"access_token":"a b","refresh_token":null}"#, .outcomeUnknown(.invalidResponse)),
    (200, #"{"hint":"refresh_token"}"#, .outcomeUnknown(.invalidResponse)),
    (200, #"["refresh_token"]"#, .outcomeUnknown(.invalidResponse)),
    (200, #"{"error":"invalid_grant"}"#, .sessionEnded(.refreshRejected)),
    (206, #"{"access_token":"a"}"#, .outcomeUnknown(.invalidResponse)),
    (200, #"{"access_token":"a","refresh_tok"#, .outcomeUnknown(.invalidResponse)),
    (200, #"{"access_token":"a","expires_in":-"#, .outcomeUnknown(.invalidResponse)),
    (200, #"{"access_token":"a","expires_in":36."#, .outcomeUnknown(.invalidResponse)),
    (200, #"{"access_token":"a","expires_in":1e+"#, .outcomeUnknown(.invalidResponse)),
    (200, #"{"access_token":"a","expires_in":36"#, .outcomeUnknown(.invalidResponse)),
    (200, #"{"access_token":"a","expires_in":-}"#, .outcomeUnknown(.invalidResponse)),
    (200, #"{"access_token":"a","name":"\ud83d"#, .outcomeUnknown(.invalidResponse)),
    (520, "<html>", .outcomeUnknown(.providerUnavailable)), (524, "", .outcomeUnknown(.providerUnavailable)),
    (598, "", .outcomeUnknown(.providerUnavailable)), (599, "", .outcomeUnknown(.providerUnavailable)),
    (521, "<html>", .transient(.providerUnavailable)), (522, "", .transient(.providerUnavailable)),
    (523, "", .transient(.providerUnavailable)), (525, "", .transient(.providerUnavailable)),
    (526, "", .transient(.providerUnavailable)), (530, "<html>", .transient(.providerUnavailable)),
    (500, #"{"access_token":"a"}"#, .transient(.providerUnavailable)),
    (500, #"{"access_token":"a b","refresh_token":"r"}"#, .transient(.providerUnavailable)),
    (500, #"{"access_token":"a","refresh_token":"r","error":"server_error"}"#, .transient(.providerUnavailable)),
    (400, #"{"access_token":"a","refresh_token":"r","error":"invalid_grant"}"#, .sessionEnded(.refreshRejected)),
    (502, #"{"access_token":"a","refresh_token":"#, .outcomeUnknown(.providerUnavailable)),
  ]

  /// A refusal that may mean the end if the provider goes on.
  static func unclear(_ fault: ConfigurationFault?, _ word: String?) -> ProviderFailure {
    let said = word.flatMap { ProviderWord($0) }.map { ProviderRejection.Said.error($0) }
    return .rejected(ProviderRejection(fault: fault, said: said, isCounted: true))
  }

  /// A token of a type that cannot be used.
  static func foreign(_ type: String) -> ProviderFailure {
    .rejected(ProviderRejection(.invalidResponse, said: ProviderWord(type).map { .tokenType($0) }))
  }

  /// An ID token that does not hold.
  static func flawed(_ flaw: IDTokenFlaw) -> ProviderFailure {
    .rejected(ProviderRejection(.invalidResponse, said: .idToken(flaw)))
  }

  @Test func `at a refresh only the provider's own word ends a session`() async throws {
    for (status, body, expected) in Self.refreshes {
      try await withProvider(reply: FakeProvider.Reply(status, body, [])) { provider, _ in
        let token = try BoundToken(secret("rt"))
        let found = await failure { () throws(ProviderFailure) in try await provider.refresh(token) }
        #expect(found == expected, "\(status) \(body)")
      }
    }
  }

  @Test(
    arguments: [
      (400, #"{"error":"invalid_grant","error_description":"rt is over"}"#, "invalid_grant"), (401, "", nil),
      (401, #"{"error":"the refresh token has expired"}"#, nil),
    ] as [(Int, String, String?)])
  func `the end of a session has the provider's status and word, and no sentence of it`(
    _ status: Int, _ body: String, _ word: String?
  ) async throws {
    try await withProvider(reply: FakeProvider.Reply(status, body, [])) { provider, _ in
      let token = BoundToken(try secret("rt"))
      let found = await failure { () throws(ProviderFailure) in try await provider.refresh(token) }
      guard case .sessionEnded(_, _, let said) = found else {
        Issue.record("\(String(describing: found))")
        return
      }
      #expect(said.status == status && said.error == word)
    }
  }

  @Test(
    arguments: [
      (400, #"{"error":"invalid_grant"}"#, .refused(.invalidCredentials)), (401, "", .refused(.invalidCredentials)),
      (403, "<html>", .refused(.invalidCredentials)), (400, #"{"error":"access_denied"}"#, .refused(.consentDenied)),
      (401, #"{"error":"invalid_client"}"#, .misconfigured(.client)),
      (400, #"{"error":"interaction_required"}"#, .unsupported),
      (429, "", .transient(.providerUnavailable)), (500, "", .transient(.providerUnavailable)),
      (404, "", .transient(.providerRejected)), (302, "", .transient(.invalidResponse)),
      (200, "<html>", .refused(.invalidResponse)), (200, #"{"access_token":"a","refr"#, .refused(.invalidResponse)),
      (400, #"{"error":"temporarily_unavailable"}"#, .transient(.providerUnavailable)),
    ] as [(Int, String, ProviderFailure)])
  func `at a login a refusal is about the credentials unless it says more`(
    _ status: Int, _ body: String, _ expected: ProviderFailure
  ) async throws {
    try await withProvider(reply: FakeProvider.Reply(status, body, [])) { provider, _ in
      let ann = try Credentials.ann()
      #expect(await failure { () throws(ProviderFailure) in try await provider.login(ann) } == expected)
    }
  }

  @Test func `nothing at all is nothing, whatever it is labelled`() async throws {
    let page = ["Content-Type: text/html; charset=utf-8"]
    for (status, body, expected) in [
      (401, "", .sessionEnded(.refreshRejected)), (400, "\r\n", .sessionEnded(.refreshRejected)),
      (401, #"{"error":"invalid_grant"}"#, .sessionEnded(.refreshRejected)), (401, "{}", .transient(.invalidResponse)),
      (200, #"{"access_token":"a","refr"#, .outcomeUnknown(.invalidResponse)),
      (200, #"{"a":"b","refr"#, .transient(.invalidResponse)),
    ] as [(Int, String, ProviderFailure)] {
      try await withProvider(reply: FakeProvider.Reply(status, body, page)) { provider, _ in
        let token = try BoundToken(secret("rt"))
        let found = await failure { () throws(ProviderFailure) in try await provider.refresh(token) }
        #expect(found == expected, "\(status) \(body)")
      }
    }
  }

  @Test func `what is refused beside the session is believed, also where it is labelled as a page`() async throws {
    let page = ["Content-Type: text/html; charset=utf-8"]
    for (status, body, expected) in [
      (400, #"{"error":"invalid_target"}"#, .refused(.insufficientScope)),
      (400, #"{"error":"invalid_grant"}"#, .sessionEnded(.refreshRejected)),
      (400, "<html>invalid_target</html>", .transient(.invalidResponse)),
      (503, #"{"error":"invalid_target"}"#, .transient(.providerUnavailable)),
    ] as [(Int, String, ProviderFailure)] {
      try await withProvider(reply: FakeProvider.Reply(status, body, page)) { provider, _ in
        let token = try BoundToken(secret("rt"))
        let found = await failure { () throws(ProviderFailure) in
          try await provider.accessToken(for: TokenTarget(audience: "urn:x"), refreshToken: token)
        }
        #expect(found == expected, "\(status) \(body)")
      }
    }
  }

  @Test func `a reply whose end is missing leaves the outcome open`() async throws {
    let body = #"{"access_token":"at","refresh_token":"rt2"#
    let head = "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n"
    let replies = [
      head + "Content-Length: 500\r\n\r\n" + body, head + "Content-Length: 500\r\n\r\n",
      head + "Transfer-Encoding: chunked\r\n\r\n29\r\n" + body + "\r\n", head,
    ]
    for reply in replies {
      try await withProvider(reply: FakeProvider.Reply(raw: Array(reply.utf8))) { provider, _ in
        let token = try BoundToken(secret("rt"))
        let found = await failure { () throws(ProviderFailure) in try await provider.refresh(token) }
        guard case .outcomeUnknown = found else {
          Issue.record("\(reply): \(String(describing: found))")
          return
        }
      }
    }
  }

  @Test func `a provider's wish to be left alone is told`() async throws {
    let reply = FakeProvider.Reply(503, "", ["Retry-After: 7"])
    try await withProvider(reply: reply) { provider, _ in
      let token = try BoundToken(secret("rt"))
      #expect(
        await failure { () throws(ProviderFailure) in try await provider.refresh(token) }
          == .transient(.providerUnavailable, retryAfter: .seconds(7)))
    }
  }

  @Test func `a reply that is lost leaves the outcome open, nobody there does not`() async throws {
    let token = try BoundToken(secret("rt"))
    try await withProvider(reply: .lost) { provider, server in
      let found = await failure { () throws(ProviderFailure) in try await provider.refresh(token) }
      #expect(found == .outcomeUnknown(.networkUnavailable))
      #expect(server.requests(at: "/token").count == 1)
    }
    var dialect = OIDCDialect(type: "oidc", issuer: "http://127.0.0.1:1")
    dialect.endpoints[.token] = "http://127.0.0.1:1/token"
    try await withProvider(dialect) { provider in
      let found = await failure { () throws(ProviderFailure) in try await provider.refresh(token) }
      #expect(found == .transient(.networkUnavailable))
    }
  }

  @Test func `every answer has a meaning, whatever was asked`() {
    let codes = [
      nil, "invalid_grant", "invalid_client", "access_denied", "expired_token", "slow_down", "login_required", "x",
      "invalid_target", "server_error", "unsupported_token_type",
    ]
    for purpose in OAuthPurpose.allCases {
      for status in 200...599 {
        for code in codes {
          var refusal = Refusal(status: status, form: code == nil ? .empty : .json, code: code)
          refusal.isWithSuccess = status == 200
          let failure = refusal.failure(purpose)
          // A session ends only at a refresh.
          if case .sessionEnded = failure {
            #expect(purpose.spendsRefreshToken && ![407, 408, 425, 429].contains(status))
            #expect(status == 200 || (400...500).contains(status))
          }
          if failure == .reauthenticationRequired { #expect(purpose.spendsRefreshToken) }
        }
      }
    }
  }
}
