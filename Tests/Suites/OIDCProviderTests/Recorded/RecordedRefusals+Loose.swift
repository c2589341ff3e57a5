/// Answers in a provider's own words and forms, and of what stands before a provider.
extension RecordedRefusals {
  private static let page = "Content-Type: text/html; charset=utf-8\n"
  private static let plain = "Content-Type: text/plain\n"
  private static let form = "Content-Type: application/x-www-form-urlencoded\n"

  static let loose: [Row] = faultsOfRequests + faultsOfClients + middleboxes + nameless + forms + overInOtherWords

  /// What speaks of a request or of a server, and not of the token.
  private static let faultsOfRequests = [
    row(400, "invalid_request", "An unknown error occurred while processing the refresh token", .counted),
    row(400, "invalid_request", "refresh_token parameter not found", .counted),
    row(400, "invalid_request", "Invalid header in refresh token request", .counted),
    row(400, "invalid_request", "invalid JSON; expected refresh_token", .counted),
    row(400, "invalid_request", "redis: refresh token lookup failed, unknown host redis", .counted),
    row(400, "invalid_request", "Refresh token is not consumed", .counted),
    row(400, "invalid_request", "Unknown grant", .counted),
    row(400, "invalid_request", "TLS session expired", .counted),
    row(400, "invalid_request", "The requested URL /refresh-token was not found", .counted),
    row(401, "bad_request", "Refresh token not found in cookies", .counted),
    row(400, "invalid_dpop_proof", "Invalid DPoP proof for refresh token", .counted),
    row(400, "invalid_dpop_proof", "The refresh token is invalid", .counted),
    row(400, "unsupported_grant_type", "refresh_token flow is inactive", .counted),
    row(400, "unsupported_grant_type", "The refresh token is invalid", .counted),
    row(401, "invalid_client", "The refresh token is invalid", .misconfigured),
    row(400, "unauthorized_client", "The refresh token grant is inactive for this client", .misconfigured),
    row(400, "server_busy", "refresh token could not be validated: database unavailable", .kept),
    row(400, "maintenance", "We are under maintenance", .kept),
    row(403, "access_denied", "quota exceeded", .kept),
  ]

  /// What speaks of the client under a name that else ends the session.
  private static let faultsOfClients = [
    row(401, "invalid_token", "client assertion is expired", .misconfigured),
    row(401, "invalid_token", "The client's registration access token expired", .misconfigured),
    Row("any", 401, #"{"error":"unauthorized","message":"API key missing"}"#, .misconfigured),
  ]

  private static let middleboxes = [
    Row("any", 403, #"{"code":"token_expired","message":"gateway session cookie expired"}"#, .kept),
    row(401, "invalid_token", "No Authorization header; gateway", .kept),
    Row("a proxy", 401, "", .kept, "WWW-Authenticate: Basic realm=\"corp proxy\"\n"),
    Row("a proxy", 401, "", .kept, "WWW-Authenticate: Negotiate\nWWW-Authenticate: NTLM\n"),
    Row("any", 401, "", .ended, "WWW-Authenticate: Bearer error=\"invalid_token\"\n"),
    Row("any", 401, "", .ended, "WWW-Authenticate: Basic realm=\"x\"\nWWW-Authenticate: Bearer\n"),
  ]

  /// What has no name of an error that would be OAuth's.
  private static let nameless = [
    Row("Spring", 404, #"{"timestamp":"x","status":404,"error":"Not Found","path":"/token"}"#, .kept),
    Row("Spring", 403, #"{"timestamp":"x","status":403,"error":"Forbidden","path":"/token"}"#, .kept),
    Row("any", 403, #"{"type":"about:blank","title":"Forbidden","status":403}"#, .kept),
    Row(
      "Cloudflare", 403,
      #"{"type":"https://developers.cloudflare.com/1020","title":"Access denied","status":403,"error_code":1020}"#,
      .kept),
    Row("a firewall", 403, #"{"message":"Forbidden","code":"WAF"}"#, .kept),
    Row("Nest", 405, #"{"message":"Method Not Allowed","statusCode":405,"error":"Method Not Allowed"}"#, .kept),
    Row("any", 415, #"{"error":"Unsupported Media Type","status":415}"#, .kept),
    Row("any", 421, #"{"error":"Misdirected Request"}"#, .kept),
    Row("any", 404, #"{"error":"upstream not found","code":"NOT_FOUND"}"#, .kept),
    row(409, "conflict", "refresh already in progress; refresh token is not consumed, retry", .kept),
    row(403, "policy_violation", "No.", .counted),
  ]

  /// What is labelled as something else, or a refusal in a form of its own.
  private static let forms = [
    Row("any", 400, #"{"error":"invalid_grant"}"#, .ended, page),
    Row("any", 400, #"{"error":"invalid_grant"}"#, .ended, plain),
    Row("any", 400, "error=invalid_grant&error_description=expired", .ended, form),
    Row("any", 400, "error=invalid_request&error_description=The+refresh%20token+is+invalid.", .ended, plain),
    Row("GitHub", 200, "error=bad_refresh_token&error_description=x", .ended, form),
    Row("any", 400, "invalid_grant\n", .ended, plain), Row("any", 400, "400 Bad Request", .kept, plain),
    Row("any", 200, "access_token=a&error=x", .lost, form), Row("any", 400, "{}", .kept, page),
    Row("any", 400, "<html>{\"error\":\"invalid_grant\"}</html>", .kept, page),
    Row("any", 200, #"{"code":401,"msg":"refresh token expired","data":null}"#, .ended),
    Row("Feishu", 200, #"{"code":20037,"msg":"refresh token expired"}"#, .ended),
    Row("any", 200, #"{"status":"error","message":"refresh token expired"}"#, .ended),
    Row("any", 200, #"{"status":"fail","data":{"refreshToken":"expired"}}"#, .counted),
    Row("any", 200, #"{"statusCode":401,"message":"Refresh token expired"}"#, .ended),
    Row("any", 200, #"{"isSuccess":false,"message":"refresh token expired"}"#, .ended),
    Row("any", 200, #"{"success":"false","message":"refresh token expired"}"#, .ended),
    Row("any", 200, #"{"success":0,"message":"refresh token expired"}"#, .ended),
    Row("any", 200, #"{"ok":0,"message":"refresh token expired"}"#, .ended),
    Row("any", 200, #"{"data":{"success":false,"message":"Refresh token expired"}}"#, .ended),
    Row(
      "TikTok", 200,
      #"{"data":{"captcha":"","description":"Refresh token is invalid or expired","error_code":10010},"message":"error"}"#,
      .ended),
    Row("any", 200, #"{"code":0,"msg":"ok"}"#, .lost), Row("any", 200, #"{"status":"processing"}"#, .lost),
    Row("any", 200, #"{"code":401}"#, .lost), Row("any", 500, #"{"error":"invalid_grant"}"#, .ended),
    Row("any", 500, #"{"error":"invalid_token"}"#, .kept), Row("any", 503, #"{"error":"invalid_grant"}"#, .kept),
  ]

  private static let overInOtherWords = [
    row(400, "invalid_request", "session not found", .ended),
    row(400, "invalid_request", "The refresh token has already been redeemed.", .ended),
    row(400, "invalid_request", "The refresh token was terminated by an administrator", .ended),
    row(400, "invalid_request", "Refresh token does not match any known session.", .ended),
    row(400, "invalid_request", "Malformed refresh token", .ended),
    row(401, "unauthorized", "Refresh token has been cancelled", .ended),
    Row("any", 401, #"{"error":"blacklisted","message":"Refresh token blacklisted"}"#, .ended),
    Row("simplejwt", 401, #"{"detail":"Token is blacklisted","code":"token_not_valid"}"#, .ended),
    Row("any", 400, #"{"error":"invalidGrant"}"#, .ended), Row("any", 400, #"{"error":"INVALID_GRANT"}"#, .ended),
    Row("any", 400, #"{"error":"Invalid Grant"}"#, .ended), Row("any", 400, #"{"error":"expired_grant"}"#, .ended),
    row(400, "inactive_user", "user is inactive", .ended), row(400, "invalid_refresh", "x", .ended),
    Row("WordPress", 401, #"{"code":"jwt_auth_expired_token","message":"Expired token"}"#, .ended),
    Row(
      "Directus", 401, #"{"errors":[{"message":"Token expired.","extensions":{"code":"TOKEN_EXPIRED"}}]}"#, .ended),
    Row(
      "Apigee", 401,
      #"{"fault":{"faultstring":"Invalid Refresh Token","detail":{"errorcode":"oauth.v2.InvalidRefreshToken"}}}"#,
      .ended),
    Row("Apigee", 401, #"{"fault":{"detail":{"errorcode":"keymanagement.service.invalid_grant"}}}"#, .ended),
    Row("any", 400, #"{"data":{"error":"invalid_grant"}}"#, .ended),
    Row("any", 400, #"{"error":["invalid_grant"]}"#, .ended),
    Row("any", 400, #"{"errors":["Refresh token has expired"]}"#, .ended),
    Row(
      "Nest", 401, #"{"statusCode":401,"message":["refresh token is not valid"],"error":"Unauthorized"}"#, .ended),
    Row("any", 400, #"{"error":"invalid_request","error_description":["Refresh token expired"]}"#, .ended),
    Row(
      "Supabase", 400,
      #"{"code":400,"error_code":"refresh_token_already_used","msg":"Invalid Refresh Token: Already Used"}"#, .ended),
    Row(
      "Cognito", 400, #"{"__type":"NotAuthorizedException","message":"Refresh Token has been revoked"}"#, .ended),
    Row("Baidu", 400, #"{"error":"expired_token","error_description":"refresh token has been used"}"#, .ended),
    Row("DingTalk", 400, #"{"code":"InvalidRefreshToken","message":"x"}"#, .ended),
    Row("Hasura", 401, #"{"status":401,"message":"x","error":"invalid-refresh-token"}"#, .ended),
    Row("Naver", 200, #"{"error":"invalid_request","error_description":"invalid refresh_token"}"#, .ended),
    Row("Okta", 401, #"{"errorCode":"E0000011","errorSummary":"Invalid token provided"}"#, .ended),
    Row("Lucia", 401, #"{"message":"AUTH_INVALID_SESSION_ID"}"#, .ended),
    Row(
      "LinkedIn", 400,
      #"{"error":"invalid_request","error_description":"The provided authorization grant or refresh token is invalid, expired or revoked."}"#,
      .ended),
    row(400, "invalid_request", "Errors.User.RefreshToken.Expired", .ended),
    row(400, "invalid_request", "expired access/refresh token", .ended),
    row(400, "invalid_request", "Refresh token with id 5 could not be found", .ended),
    row(410, "invalid_grant", "x", .ended), row(422, "invalid_grant", "The refresh token is invalid", .ended),
    row(498, "invalid_token", "Invalid token.", .ended), row(404, "refresh_token_not_found", "x", .ended),
    row(422, "validation", "x", .counted),
    Row(
      "any", 400,
      #"{"type":"https://ex/probs/invalid-grant","title":"Bad","status":400,"detail":"The refresh token was redeemed."}"#,
      .ended),
  ]

  private static func row(_ status: Int, _ error: String, _ description: String, _ state: State) -> Row {
    Row("any", status, "{\"error\":\"\(error)\",\"error_description\":\"\(description)\"}", state)
  }
}
