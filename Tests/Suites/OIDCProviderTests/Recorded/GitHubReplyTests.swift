import BrokerCore
import BrokerProtocol
import SecretMemory
import TestSupport
import Testing

@testable import OIDCProvider

/// GitHub (docs.github.com/apps/oauth-apps, "Authorizing OAuth apps"; "Refreshing user access tokens").
@Suite(.standardTimeLimit) struct GitHubReplyTests {
  private static let device = """
    {"device_code":"3584d83530557fdd1f46af8289938c8ef79f9dc5","user_code":"WDJB-MJHT",\
    "verification_uri":"https://github.com/login/device","expires_in":900,"interval":5}
    """
  private static let octocat = #"{"login":"octocat","id":583231,"node_id":"MDQ6VXNlcjU4MzIzMQ==","email":null}"#

  @Test func `a login at another device`() async throws {
    let (action, progress) = try await RecordedProvider.deviceLogin(.github, Self.device) { request in
      request.path == "/userinfo"
        ? FakeProvider.Reply(200, Self.octocat)
        : FakeProvider.Reply(
          200, #"{"access_token":"gho_16C7e42F292c6912E7710c838347Ae178B4a","token_type":"bearer","scope":"repo,gist"}"#
        )
    }
    #expect(action.verificationURI == "https://github.com/login/device" && action.userCode == "WDJB-MJHT")
    let session = try #require(try progress.get().session)
    #expect(
      session.user?.withoutClaims == User(id: "583231", name: "octocat") && session.tokens.scopes == ["repo", "gist"])
    for (body, slowsDown) in [
      (
        #"{"error":"authorization_pending","error_description":"made up","error_uri":"https://docs.github.com"}"#, false
      ),
      (#"{"error":"slow_down","error_description":"made up","interval":10}"#, true),
    ] {
      let (_, progress) = try await RecordedProvider.deviceLogin(.github, Self.device) { _ in
        FakeProvider.Reply(200, body)
      }
      #expect(try progress.get().slowsDown == slowsDown)
    }
    for (code, expected) in [
      ("access_denied", .refused(.consentDenied)), ("expired_token", .refused(.otpExpired)),
      ("incorrect_device_code", .refused(.flowNotFound)), ("device_flow_disabled", .misconfigured(.grant)),
      ("incorrect_client_credentials", .misconfigured(.client)), ("unsupported_grant_type", .misconfigured(.grant)),
    ] as [(String, ProviderFailure)] {
      let (_, refused) = try await RecordedProvider.deviceLogin(.github, Self.device) { _ in
        FakeProvider.Reply(200, #"{"error":"\#(code)"}"#)
      }
      #expect(throws: expected, "\(code)") { try refused.get() }
    }
  }

  @Test func `a refresh`() async throws {
    let tokens = try await RecordedProvider.refresh(
      .github,
      """
      {"access_token":"ghu_made_up","expires_in":28800,"refresh_token":"ghr_made_up","refresh_token_expires_in":15811200,\
      "scope":"","token_type":"bearer"}
      """)
    #expect(tokens.scopes.isEmpty && tokens.refreshTokenExpiresAt != nil && tokens.refreshToken != nil)
    let classic = try await RecordedProvider.refresh(
      .github, #"{"access_token":"gho_made_up","scope":"","token_type":"bearer"}"#)
    #expect(classic.accessTokenExpiresAt == nil && classic.refreshToken == nil)
  }

  @Test func `a refused refresh`() async throws {
    for (body, expected) in [
      (
        #"{"error":"bad_refresh_token","error_description":"made up","error_uri":"x"}"#, .sessionEnded(.refreshRejected)
      ),
      (#"{"error":"incorrect_client_credentials"}"#, .misconfigured(.client)),
      (#"{"error":"unsupported_grant_type"}"#, RefusalTests.unclear(.grant, "unsupported_grant_type")),
    ] as [(String, ProviderFailure)] {
      #expect(try await RecordedProvider.refusal(.github, 200, body) == expected, "\(body)")
    }
  }

  @Test func `the end of a session is not to be had: its endpoint is none of RFC 7009`() async throws {
    #expect(OIDCDialect.github.endpoints[.revocation] == nil)
    let (failure, requests) = try await RecordedProvider.revocation(.github, without: [.revocation, .endSession]) { _ in
      FakeProvider.Reply(200, "", [])
    }
    #expect(failure == .unsupported && requests.isEmpty)
  }

  @Test func `the user`() async throws {
    #expect(
      try await RecordedProvider.user(.github, 200, Self.octocat) == .success(User(id: "583231", name: "octocat")))
    let refused = #"{"message":"Bad credentials","documentation_url":"https://docs.github.com/rest","status":"401"}"#
    #expect(try await RecordedProvider.user(.github, 401, refused) == .failure(.tokenRefused))
    let limited = #"{"message":"API rate limit exceeded","documentation_url":"https://docs.github.com/rest"}"#
    #expect(try await RecordedProvider.user(.github, 429, limited) == .failure(.transient(.providerUnavailable)))
  }
}
