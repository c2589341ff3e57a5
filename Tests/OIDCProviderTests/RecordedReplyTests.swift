import BrokerCore
import BrokerProtocol
import OIDCDialect
import SecretMemory
import Testing

@testable import OIDCProvider

/// Replies in the shapes that the providers' public documentation shows; every token is made up.
struct RecordedReplyTests {
  /// Puts a provider that is known by name at the address of a test.
  private func at(_ server: FakeProvider, _ dialect: OIDCDialect) -> OIDCDialect {
    var dialect = dialect
    dialect.usesDiscovery = false
    dialect.methods = LoginMethod.allCases
    dialect.endpoints = [
      .token: server.issuer + "/token", .deviceAuthorization: server.issuer + "/device",
      .userinfo: server.issuer + "/user",
    ]
    return dialect
  }

  private func tokens(_ dialect: OIDCDialect, _ reply: String) async throws -> TokenSet {
    var found: TokenSet?
    try await FakeProvider.run(always: FakeProvider.Reply(200, reply)) { server in
      try await withProvider(at(server, dialect)) { provider in found = try await provider.refresh(secret("rt")) }
    }
    return try #require(found)
  }

  private func refusal(_ dialect: OIDCDialect, _ status: Int, _ reply: String) async throws -> ProviderFailure? {
    var found: ProviderFailure?
    try await FakeProvider.run(always: FakeProvider.Reply(status, reply)) { server in
      try await withProvider(at(server, dialect)) { provider in
        let token = try secret("rt")
        found = await failure { () throws(ProviderFailure) in try await provider.refresh(token) }
      }
    }
    return found
  }

  private static func seconds(_ end: Timestamp?) -> Int? {
    end.map { Int((($0 - Timestamp(milliseconds: 0)).inSeconds).rounded()) }
  }

  @Test func `Keycloak`() async throws {
    let dialect = OIDCDialect.keycloak(baseURL: "https://sso.example.com", realm: "acme")
    let tokens = try await tokens(
      dialect,
      """
      {"access_token":"made-up-access","expires_in":300,"refresh_expires_in":1800,"refresh_token":"made-up-refresh",\
      "token_type":"Bearer","not-before-policy":0,"session_state":"9d2c4a8e-made-up","scope":"openid email profile"}
      """)
    #expect(tokens.scopes == ["openid", "email", "profile"])
    let access = try #require(Self.seconds(tokens.accessTokenExpiresAt))
    #expect(Self.seconds(tokens.refreshTokenExpiresAt) == access + 1500)
    let offline = try await self.tokens(
      dialect, #"{"access_token":"a","expires_in":300,"refresh_expires_in":0,"refresh_token":"r"}"#)
    #expect(offline.refreshToken != nil && offline.refreshTokenExpiresAt == nil)
    #expect(
      try await refusal(dialect, 400, #"{"error":"invalid_grant","error_description":"Token is not active"}"#)
        == .sessionEnded(.refreshRejected))
    #expect(
      try await refusal(dialect, 401, #"{"error":"invalid_client","error_description":"Invalid client credentials"}"#)
        == .misconfigured(.client))
  }

  @Test func `Auth0`() async throws {
    let dialect = OIDCDialect.auth0(domain: "acme.eu.auth0.com")
    #expect(dialect.issuer == "https://acme.eu.auth0.com/")
    let tokens = try await tokens(
      dialect,
      """
      {"access_token":"made-up-access","refresh_token":"v1.made-up","id_token":"eyJ.made.up","scope":"openid offline_access",\
      "expires_in":86400,"token_type":"Bearer"}
      """)
    #expect(tokens.refreshToken != nil && tokens.idToken == nil && tokens.accessTokenExpiresAt != nil)
    #expect(
      try await refusal(
        dialect, 403, #"{"error":"invalid_grant","error_description":"Unknown or invalid refresh token."}"#)
        == .sessionEnded(.refreshRejected))
    #expect(
      try await refusal(
        dialect, 403, #"{"error":"mfa_required","error_description":"Multifactor required","mfa_token":"Fe26.made-up"}"#
      )
        == .reauthenticationRequired)
    #expect(
      try await refusal(dialect, 429, #"{"error":"too_many_requests","error_description":"Global limit"}"#)
        == .transient(.providerUnavailable))
  }

  @Test func `Google`() async throws {
    let tokens = try await tokens(
      .google,
      """
      {"access_token":"1/fFAGRNJru1FTz70BzhT3Zg-made-up","expires_in":3920,\
      "scope":"https://www.googleapis.com/auth/drive.metadata.readonly openid","token_type":"Bearer"}
      """)
    #expect(tokens.refreshToken == nil && tokens.scopes.count == 2)
    #expect(
      try await refusal(
        .google, 400, #"{"error":"invalid_grant","error_description":"Token has been expired or revoked."}"#)
        == .sessionEnded(.refreshRejected))
    let device = """
      {"device_code":"made-up-device","user_code":"GQVQ-JKEC","verification_url":"https://www.google.com/device",\
      "expires_in":1800,"interval":5}
      """
    try await FakeProvider.run { request, _ in
      request.path == "/device"
        ? FakeProvider.Reply(200, device)
        : FakeProvider.Reply(428, #"{"error":"authorization_pending","error_description":"Precondition Required"}"#)
    } _: { server in
      try await withProvider(at(server, .google)) { provider in
        let action = try #require(try await provider.login(Credentials(method: .deviceCode)).action)
        #expect(action.verificationURI == "https://www.google.com/device" && action.userCode == "GQVQ-JKEC")
        guard case .pending(false) = try await provider.pollUserAction(flow: action.flow) else {
          Issue.record("the user has not been there")
          return
        }
      }
    }
  }

  @Test func `Microsoft`() async throws {
    let dialect = OIDCDialect.microsoft(tenant: "common")
    let tokens = try await tokens(
      dialect,
      """
      {"token_type":"Bearer","scope":"User.Read profile openid email","expires_in":3736,"ext_expires_in":3736,\
      "access_token":"eyJ0.made-up","refresh_token":"0.AXEA-made-up"}
      """)
    #expect(tokens.scopes.first == "User.Read")
    let expired = """
      {"error":"invalid_grant","error_description":"AADSTS70008: The refresh token has expired due to inactivity.",\
      "error_codes":[70008],"timestamp":"2026-01-09 02:02:12Z","trace_id":"made-up","correlation_id":"made-up"}
      """
    #expect(try await refusal(dialect, 400, expired) == .sessionEnded(.refreshRejected))
    let interaction =
      #"{"error":"interaction_required","error_description":"AADSTS50079: made up","suberror":"basic_action"}"#
    #expect(try await refusal(dialect, 400, interaction) == .reauthenticationRequired)
    #expect(
      try await refusal(dialect, 401, #"{"error":"invalid_client","error_codes":[7000215]}"#)
        == .misconfigured(.client))
  }

  @Test func `GitHub`() async throws {
    let tokens = try await tokens(
      .github,
      """
      {"access_token":"ghu_made_up","expires_in":28800,"refresh_token":"ghr_made_up","refresh_token_expires_in":15811200,\
      "scope":"repo,gist","token_type":"bearer"}
      """)
    #expect(tokens.scopes == ["repo", "gist"] && tokens.refreshTokenExpiresAt != nil)
    let classic = try await self.tokens(.github, #"{"access_token":"gho_made_up","scope":"","token_type":"bearer"}"#)
    #expect(classic.accessTokenExpiresAt == nil && classic.refreshToken == nil && classic.scopes.isEmpty)
    #expect(
      try await refusal(.github, 200, #"{"error":"bad_refresh_token","error_description":"made up","error_uri":"x"}"#)
        == .sessionEnded(.refreshRejected))
    #expect(
      try await refusal(.github, 200, #"{"error":"incorrect_client_credentials"}"#) == .misconfigured(.client))
    try await FakeProvider.run { request, _ in
      switch request.path {
      case "/device":
        FakeProvider.Reply(
          200,
          """
          {"device_code":"3584d83530557fdd1f46af8289938c8ef79f9dc5","user_code":"WDJB-MJHT",\
          "verification_uri":"https://github.com/login/device","expires_in":900,"interval":5}
          """)
      case "/user": FakeProvider.Reply(200, #"{"login":"octocat","id":583231,"node_id":"MDQ6","email":null}"#)
      default:
        request.form["device_code"] == nil
          ? FakeProvider.Reply(200, #"{"error":"bad_verification_code"}"#)
          : FakeProvider.Reply(200, #"{"error":"slow_down","interval":10}"#)
      }
    } _: { server in
      try await withProvider(at(server, .github)) { provider in
        let action = try #require(try await provider.login(Credentials(method: .deviceCode)).action)
        guard case .pending(true) = try await provider.pollUserAction(flow: action.flow) else {
          Issue.record("it wants to be asked more slowly")
          return
        }
        #expect(
          try await provider.currentUser(accessToken: secret("gho_made_up")) == User(id: "583231", name: "octocat"))
      }
    }
  }
}
