import BrokerProtocol

/// How the providers that are known by name are spoken to; each is nothing but data.
extension OIDCDialect {
  /// Ways in that need no password of the user's: what public providers offer to programs.
  private static let withoutPassword: [LoginMethod] = [.refreshToken, .browser, .deviceCode]

  /// A realm of a Keycloak server.
  ///
  /// Its end-session endpoint takes a refresh token from the client itself and ends all of the user's session with it.
  package static func keycloak(baseURL: String, realm: String) -> OIDCDialect {
    var dialect = OIDCDialect(type: OIDCPreset.keycloak.rawValue, issuer: trimmed(baseURL) + "/realms/" + realm)
    dialect.quirks.endsSessionWithRefreshToken = true
    return dialect
  }

  /// A tenant of Auth0, by its domain; its issuer ends with a slash.
  package static func auth0(domain: String) -> OIDCDialect {
    var dialect = OIDCDialect(
      type: OIDCPreset.auth0.rawValue, issuer: "https://\(domain)/",
      scopes: ["openid", "profile", "email", "offline_access"])
    dialect.quirks.target = .audience
    dialect.quirks.asksForSecondFactor = true
    return dialect
  }

  /// Google: it gives a refresh token only to who asks with parameters of its own, and only after consent.
  package static var google: OIDCDialect {
    var dialect = OIDCDialect(
      type: OIDCPreset.google.rawValue, issuer: "https://accounts.google.com", scopes: ["openid", "email", "profile"],
      methods: withoutPassword)
    dialect.quirks.otherIssuers = ["accounts.google.com"]
    dialect.quirks.authorizationParameters = [.init("access_type", "offline"), .init("prompt", "consent")]
    // `prompt` is `none`, `consent` or `select_account` there, and nothing else.
    dialect.quirks.provesAnew = false
    dialect.quirks.target = .none
    return dialect
  }

  /// Microsoft's identity platform, for one tenant (its id or a domain) or for all (`common`, `organizations`,
  /// `consumers`).
  ///
  /// Metadata and ID tokens name the tenant by its id, whatever it was called.
  package static func microsoft(tenant: String) -> OIDCDialect {
    var dialect = OIDCDialect(
      type: OIDCPreset.microsoft.rawValue, issuer: "https://login.microsoftonline.com/\(tenant)/v2.0",
      scopes: ["openid", "profile", "email", "offline_access"], methods: withoutPassword)
    dialect.quirks.issuerRule = .tenant
    dialect.quirks.errorNames = ["bad_verification_code": "invalid_grant"]
    dialect.quirks.target = .none
    return dialect
  }

  /// GitHub: OAuth without OpenID Connect, errors with status 200, and refresh tokens for GitHub Apps only.
  package static var github: OIDCDialect {
    var dialect = OIDCDialect(
      type: OIDCPreset.github.rawValue, issuer: "https://github.com/login/oauth", scopes: ["read:user"],
      methods: withoutPassword)
    dialect.usesDiscovery = false
    dialect.endpoints = [
      .authorization: "https://github.com/login/oauth/authorize",
      .token: "https://github.com/login/oauth/access_token",
      .deviceAuthorization: "https://github.com/login/device/code",
      .userinfo: "https://api.github.com/user",
    ]
    dialect.quirks.answersErrorsWithSuccess = true
    dialect.quirks.provesAnew = false
    dialect.quirks.separatesScopesByComma = true
    dialect.quirks.userIDMember = "id"
    dialect.quirks.target = .none
    dialect.quirks.takesScopesAtRefresh = false
    dialect.quirks.errorNames = [
      "bad_refresh_token": "invalid_grant", "bad_verification_code": "invalid_grant",
      "incorrect_device_code": "invalid_grant", "incorrect_client_credentials": "invalid_client",
      "redirect_uri_mismatch": "invalid_request", "device_flow_disabled": "unauthorized_client",
      "application_suspended": "unauthorized_client",
    ]
    return dialect
  }

  /// GitLab, at its own address or somebody's own.
  package static func gitlab(baseURL: String) -> OIDCDialect {
    OIDCDialect(
      type: OIDCPreset.gitlab.rawValue, issuer: trimmed(baseURL), scopes: ["openid", "profile", "email"],
      methods: withoutPassword)
  }

  private static func trimmed(_ url: String) -> String {
    var url = Substring(url)
    while url.hasSuffix("/") { url.removeLast() }
    return String(url)
  }
}
