/// What providers have answered to a refresh, from their documents and from public reports; tokens and numbers are cut out.
enum RecordedRefusals {
  /// What becomes of the session.
  enum State {
    /// It has ended.
    case ended
    /// The provider wants to see the user.
    case userWanted
    /// It stays, and the token is sent again later.
    case kept
    /// It stays, and is shown as expired if the provider goes on.
    case counted
    /// It stays, and the configuration is to be fixed.
    case misconfigured
    /// It is not known whether the provider has acted.
    case lost
  }

  /// One answer.
  struct Row {
    let provider: String
    let status: Int
    let body: String
    let state: State
    /// The lines of the header.
    let lines: String

    init(
      _ provider: String, _ status: Int, _ body: String, _ state: State,
      _ lines: String = "Content-Type: application/json\n"
    ) {
      (self.provider, self.status, self.body, self.state, self.lines) = (provider, status, body, state, lines)
    }
  }

  static let rows: [Row] = over + userWanted + passing + unclear + configuration + loose

  private static let over = [
    Row("Keycloak", 400, #"{"error":"invalid_grant","error_description":"Token is not active"}"#, .ended),
    Row("Keycloak", 400, #"{"error":"invalid_grant","error_description":"Session not active"}"#, .ended),
    Row("Keycloak", 400, #"{"error":"invalid_grant","error_description":"Stale token"}"#, .ended),
    Row(
      "Keycloak", 400,
      #"{"error":"invalid_grant","error_description":"Maximum allowed refresh token reuse exceeded"}"#, .ended),
    Row("Google", 400, #"{"error":"invalid_grant","error_description":"Token has been expired or revoked."}"#, .ended),
    Row(
      "Microsoft", 400,
      #"{"error":"invalid_grant","error_description":"AADSTS700082: The refresh token has expired due to inactivity.","error_codes":[700082],"suberror":"bad_token"}"#,
      .ended),
    Row(
      "Okta", 400, #"{"error":"invalid_grant","error_description":"The refresh token is invalid or expired."}"#, .ended),
    Row("Auth0", 403, #"{"error":"invalid_grant","error_description":"Unknown or invalid refresh token."}"#, .ended),
    Row(
      "Dex", 400,
      #"{"error":"invalid_request","error_description":"Refresh token is invalid or has already been claimed by another client."}"#,
      .ended),
    Row(
      "HubSpot", 400,
      #"{"status":"BAD_REFRESH_TOKEN","message":"missing or invalid refresh token","correlationId":"6356f281"}"#, .ended
    ),
    Row("Slack", 200, #"{"ok":false,"error":"invalid_refresh_token"}"#, .ended),
    Row("Slack", 200, #"{"ok":false,"error":"token_expired"}"#, .ended),
    Row("Slack", 200, #"{"ok":false,"error":"token_revoked"}"#, .ended),
    Row(
      "GitHub", 200,
      #"{"error":"bad_refresh_token","error_description":"The refresh token passed is incorrect or expired."}"#, .ended),
    Row(
      "UAA", 401,
      #"{"error":"invalid_token","error_description":"The token expired, was revoked, or the token ID is incorrect: 1-r"}"#,
      .ended),
    Row("UAA", 401, #"{"error":"unauthorized","error_description":"User does not exist"}"#, .ended),
    Row("Atlassian", 403, #"{"error":"unauthorized_client","error_description":"refresh_token is invalid"}"#, .ended),
    Row(
      "GitLab", 400,
      #"{"error":"invalid_grant","error_description":"The provided authorization grant is invalid, expired, revoked, does not match the redirection URI used in the authorization request, or was issued to another client."}"#,
      .ended),
    Row(
      "Kick", 401,
      #"{"error":"invalid_grant","error_description":"The provided authorization grant (e.g., authorization code, resource owner credentials) or refresh token is invalid, expired, revoked"}"#,
      .ended),
    Row("Twitch", 400, #"{"status":400,"message":"Invalid refresh token"}"#, .ended),
    Row("Twitch", 400, #"{"status": 400, "message": "Invalid grant"}"#, .ended),
    Row(
      "Strava", 400,
      #"{"message":"Bad Request","errors":[{"resource":"RefreshToken","field":"refresh_token","code":"invalid"}]}"#,
      .ended),
    Row(
      "Fitbit", 400,
      #"{"errors":[{"errorType":"invalid_grant","message":"Refresh token invalid: xxxx. Visit https://dev.fitbit.com/docs/oauth2 for more information on the Fitbit Web API authorization process."}],"success":false}"#,
      .ended),
    Row("Salesforce", 400, #"{"error":"invalid_grant","error_description":"expired access/refresh token"}"#, .ended),
    Row("Spotify", 400, #"{"error":"invalid_grant","error_description":"Refresh token revoked"}"#, .ended),
    Row("QuickBooks", 400, #"{"error":"invalid_grant"}"#, .ended),
    Row("Xero", 400, #"{"error":"invalid_grant"}"#, .ended),
    Row("Discord", 400, #"{"error": "invalid_grant"}"#, .ended),
    Row("Cognito", 400, #"{"error":"invalid_grant","error_description":"Refresh Token has been revoked"}"#, .ended),
    Row(
      "FusionAuth", 400,
      #"{"error":"invalid_grant","error_description":"The refresh_token is invalid.","error_reason":"refresh_token_not_found"}"#,
      .ended),
    Row(
      "Bluesky", 400, #"{"error":"invalid_grant","error_description":"Refresh token exceeded inactivity timeout"}"#,
      .ended),
    Row(
      "DeviantArt", 400,
      #"{"error":"invalid_request","error_description":"The refresh_token is invalid.","status":"error"}"#, .ended),
    Row(
      "Authlib", 400, #"{"error":"invalid_request","error_description":"Invalid \"refresh_token\" in request."}"#,
      .ended),
    Row("WSO2", 400, #"{"error":"invalid_grant","error_description":"Persisted access token data not found"}"#, .ended),
    Row("IdentityServer", 400, #"{"error":"invalid_grant"}"#, .ended),
    Row("Zitadel", 400, #"{"error":"invalid_grant","error_description":"Errors.User.RefreshToken.Invalid"}"#, .ended),
    Row(
      "Ory Hydra", 401,
      #"{"error":"token_inactive","error_description":"Token is inactive because it is malformed, expired or otherwise invalid. Token validation failed."}"#,
      .ended),
    Row("Zoho", 200, #"{"error":"invalid_code"}"#, .ended),
    Row("WeChat", 200, #"{"errcode":40030,"errmsg":"invalid refresh_token"}"#, .ended),
    Row(
      "Dropbox", 400, #"{"error":"invalid_grant","error_description":"refresh token is invalid or revoked"}"#, .ended),
    Row(
      "HID ActivID", 400, #"{"error":"invalid_grant","error_description":"Invalid grant:No such session: "}"#, .ended),
    Row("Glewlwyd", 400, "", .ended),
  ]

  private static let userWanted = [
    Row(
      "Microsoft", 400,
      #"{"error":"interaction_required","error_description":"AADSTS50076: you must use multi-factor authentication","error_codes":[50076],"suberror":"basic_action"}"#,
      .userWanted),
    Row(
      "Auth0", 403, #"{"error":"mfa_required","error_description":"Multifactor authentication required"}"#, .userWanted),
  ]

  private static let passing = [
    Row(
      "Microsoft", 400,
      #"{"error":"invalid_grant","error_description":"AADSTS50196: The server terminated an operation because it encountered a client request loop. Please contact your app vendor.","error_codes":[50196]}"#,
      .kept),
    Row(
      "Ory Hydra", 400,
      #"{"error":"invalid_request","error_description":"Failed to refresh token because of multiple concurrent requests using the same token. Please retry the request."}"#,
      .kept),
    Row("Salesforce", 400, #"{"error":"invalid_grant","error_description":"login rate exceeded"}"#, .kept),
    Row(
      "Zoho", 400,
      #"{"error_description":"You have made too many requests continuously. Please try again after some time.","error":"Access Denied","status":"failure"}"#,
      .kept),
    Row("Slack", 200, #"{"ok":false,"error":"ratelimited","message":"too many requests"}"#, .kept),
    Row("UAA", 500, #"{"error":"server_error"}"#, .kept), Row("any", 429, #"{"error":"invalid_grant"}"#, .kept),
    Row("any", 502, #"{"error":"temporarily_unavailable"}"#, .kept),
    Row("Spring Cloud Gateway", 504, #"{"status":504,"error":"Gateway Timeout","path":"/oauth/token"}"#, .lost),
    Row("Amazon API Gateway", 504, #"{"message": "Endpoint request timed out"}"#, .lost),
    Row("Cloudflare", 403, "<!DOCTYPE html><title>Just a moment...</title>", .kept),
    Row("Amazon WAF", 403, #"{"message":"Forbidden"}"#, .kept),
  ]

  private static let unclear = [
    Row("Xee", 400, #"{"error":"invalid_request"}"#, .counted),
    Row(
      "TD Bank", 400, #"{"error":"invalid_request","error_description":"refresh token is missing or invalid"}"#,
      .counted),
    Row(
      "Spring", 400,
      #"{"error_description":"OAuth 2.0 Parameter: refresh_token","error":"invalid_request","error_uri":"https://datatracker.ietf.org/doc/html/rfc6749#section-5.2"}"#,
      .counted),
    Row(
      "Fitbit", 400,
      #"{"errors":[{"errorType":"invalid_request","message":"Missing parameters: refresh_token"}],"success":false}"#,
      .counted),
    Row(
      "any", 400, #"{"error":"unsupported_grant_type","error_description":"Invalid grant_type: refresh_token"}"#,
      .counted),
    Row(
      "HID ActivID", 400,
      #"{"error_description":"Invalid, unknown or malformed scope:Scope not allowed by initial authorization request","error":"invalid_scope"}"#,
      .counted),
    Row("Slack", 200, #"{"ok":false,"error":"fatal_error"}"#, .counted),
    Row(
      "Planning Center", 401, #"{"error":"Unauthorized","message":"We can't authenticate this request. (BABOON)"}"#,
      .counted),
    Row(
      "Strava", 400,
      #"{"message":"Bad Request","errors":[{"resource":"Application","field":"client_id","code":"invalid"}]}"#, .counted
    ),
  ]

  private static let configuration = [
    Row(
      "Microsoft", 401,
      #"{"error":"invalid_client","error_description":"AADSTS7000215: Invalid client secret provided."}"#,
      .misconfigured),
    Row("UAA", 401, #"{"error":"unauthorized","error_description":"Bad credentials"}"#, .misconfigured),
    Row(
      "Google", 401, #"{"error":"invalid_client","error_description":"The OAuth client was not found."}"#,
      .misconfigured),
    Row(
      "any", 400,
      #"{"error":"unauthorized_client","error_description":"The client is not authorized to use this grant."}"#,
      .misconfigured),
  ]
}
