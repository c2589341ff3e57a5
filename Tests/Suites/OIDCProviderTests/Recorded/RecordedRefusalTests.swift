import BrokerCore
import BrokerProtocol
import ProviderKit
import TestSupport
import Testing

@testable import HTTP
@testable import OIDCProvider

/// What answers of real providers mean for a session.
@Suite(.standardTimeLimit) struct RecordedRefusalTests {
  private func failure(
    _ purpose: OAuthPurpose, _ status: Int, _ body: String, _ lines: String = "Content-Type: application/json\n",
    _ configure: (inout OIDCQuirks) -> Void = { _ in }
  ) async -> ProviderFailure? {
    var (lines, bytes) = (Array(lines.utf8), Array(body.utf8))
    var quirks = OIDCDialect.github.quirks
    configure(&quirks)
    let response = HTTPResponse(status: status, lines: WipedBytes(taking: &lines), body: WipedBytes(taking: &bytes))
    let now = Timestamp(milliseconds: 1_800_000_000_000)
    let reply = OAuthReply(purpose, response, quirks, sentAt: now, receivedAt: now)
    return await OIDCProviderTests.failure { () throws(ProviderFailure) in try await reply.tokens() }
  }

  private func state(_ failure: ProviderFailure?) -> RecordedRefusals.State? {
    switch failure {
    case .sessionEnded: .ended
    case .reauthenticationRequired: .userWanted
    case .transient: .kept
    case .rejected(let rejection): rejection.isCounted ? .counted : .kept
    case .misconfigured: .misconfigured
    case .outcomeUnknown: .lost
    default: nil
    }
  }

  @Test func `each recorded answer leaves the session as it should be`() async {
    for row in RecordedRefusals.rows {
      let found = await failure(.refresh, row.status, row.body, row.lines)
      #expect(state(found) == row.state, "\(row.provider) \(row.status) \(row.body): \(String(describing: found))")
    }
  }

  @Test func `an answer for another target ends no session but by a word for that`() async {
    for row in RecordedRefusals.rows where row.state != .ended {
      if case .sessionEnded? = await failure(.narrow, row.status, row.body, row.lines) { Issue.record("\(row.body)") }
    }
    let consent =
      #"{"error":"invalid_grant","error_description":"AADSTS65001: The user has not consented to use the application"}"#
    #expect(await failure(.narrow, 400, consent) == .refused(.insufficientScope))
  }

  @Test func `a profile says what its provider's own words mean`() async {
    let cases: [(ErrorKind, ProviderFailure)] = [
      (.sessionExpired, .sessionEnded(.refreshRejected)), (.reauthRequired, .reauthenticationRequired),
      (.rateLimited, .transient(.rateLimited)), (.providerUnavailable, .transient(.providerUnavailable)),
      (.insufficientScope, .refused(.insufficientScope)),
    ]
    for (kind, expected) in cases {
      for body in [
        #"{"error":"E_42"}"#, #"{"code":"E_42"}"#, #"{"error":{"code":"E_42"}}"#, #"{"errors":["E_42"]}"#,
        #"{"code":42,"data":null}"#, #"{"fault":{"detail":{"errorcode":"E_42"}}}"#,
      ] {
        for status in [200, 400, 422] {
          let found = await failure(.refresh, status, body) { $0.errorKinds = ["E_42": kind, "42": kind] }
          #expect(found == expected, "\(status) \(body)")
        }
      }
    }
  }

  @Test func `a sound refresh token beside an access token that is not is all that is taken`() async throws {
    for body in [
      #"{"refresh_token":"r"}"#, #"{"access_token":"","refresh_token":"r"}"#,
      #"{"access_token":"a b","refresh_token":"r"}"#, #"{"refresh_token":"r","access_token":"a","access_token":"b"}"#,
      #"{"access_token":"a","token_type":"mac","refresh_token":"r"}"#,
      #"{"access_token":"a","refresh_token":"r","expires_in":1,"expires_in":2}"#,
      #"{"access_token":"a","refresh_token":"r","refresh_token":"r","expires_in":-}"#,
    ] {
      guard case .rotated(let rotated)? = await failure(.refresh, 200, body) else {
        Issue.record("\(body)")
        continue
      }
      #expect(rotated.refreshToken.value == (try secret("r")))
    }
    #expect(
      await failure(.refresh, 200, #"{"access_token":"a","refresh_token":"r","refresh_token":"s"}"#)
        == .outcomeUnknown(.invalidResponse))
  }

  @Test func `sound tokens are taken whatever is beside them`() async {
    for body in [
      "\u{FEFF}" + #"{"access_token":"a","refresh_token":"r"}"#,
      #"{"access_token":"a","refresh_token":"r","access_token":"a"}"#,
      #"{"access_token":"a","refresh_token":"r","name":"\ud83d"}"#,
      #"{"access_token":"a","refresh_token":"r","scope":"x","scope":"y"}"#,
      "{\"access_token\":\"a\",\"refresh_token\":\"r\",\"name\":\"a\u{1}b\",}",
      #"{"access_token":"a","refresh_token":"r"}"# + "\u{0}\n<!-- 3 ms -->", ")]}',\n" + #"{"access_token":"a"}"#,
      #"{"access_token":"a","error":null}"#, #"{"access_token":"a","error":"warning"}"#,
    ] {
      #expect(await failure(.refresh, 200, body) == nil, "\(body)")
    }
  }

  @Test func `a login is refused in the same words`() async {
    #expect(
      await failure(.takeOver, 400, #"{"error":"invalid_request","error_description":"Refresh token is invalid"}"#)
        == .refused(.invalidCredentials))
    #expect(await failure(.code, 200, #"{"error":"invalid_grant"}"#) == .refused(.flowNotFound))
    #expect(await failure(.code, 400, "error=invalid_grant", "\n") == .refused(.flowNotFound))
    #expect(
      await failure(.code, 200, #"{"access_token":"a","token_type":"BearerToken"}"#)
        == .rejected(ProviderRejection(.invalidResponse, said: ProviderWord("BearerToken").map { .tokenType($0) })))
  }

  @Test(
    arguments: [
      ("Account is not fully set up", .unsupported), ("Account disabled", .refused(.accountLocked)),
      ("User is locked out", .refused(.accountLocked)),
      ("AADSTS50076: you must use multi-factor authentication", .unsupported),
      ("AADSTS50055: The password is expired.", .refused(.accountLocked)),
      ("Your email address is not verified.", .refused(.emailUnverified)),
      ("Invalid user credentials", .refused(.invalidCredentials)), ("", .refused(.invalidCredentials)),
    ] as [(String, ProviderFailure)])
  func `a login is not refused for its password where something else is in its way`(
    _ description: String, _ expected: ProviderFailure
  ) async {
    let body = "{\"error\":\"invalid_grant\",\"error_description\":\"\(description)\"}"
    #expect(await failure(.password, 400, body) == expected)
  }
}
