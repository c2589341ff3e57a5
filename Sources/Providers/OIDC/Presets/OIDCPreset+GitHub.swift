import BrokerProtocol
import ProviderKit

extension OIDCPreset {
  /// GitHub.
  static let github = OIDCPreset(
    name: "github", title: "GitHub",
    registration: ClientRegistration(
      "https://github.com/settings/applications/new",
      "enter any name and homepage and the callback URL http://127.0.0.1/callback, and tick Enable Device Flow",
      keys: ["clientSecret"])
  ) { _ in .github }
}

extension OIDCDialect {
  /// GitHub: OAuth without OpenID Connect, errors with status 200, and refresh tokens for GitHub Apps only.
  package static var github: OIDCDialect {
    var dialect = OIDCDialect(
      type: "github", issuer: "https://github.com/login/oauth", scopes: ["read:user"],
      methods: LoginMethod.withoutPassword)
    dialect.usesDiscovery = false
    dialect.endpoints = [
      .authorization: "https://github.com/login/oauth/authorize",
      .token: "https://github.com/login/oauth/access_token",
      .deviceAuthorization: "https://github.com/login/device/code",
      .userinfo: "https://api.github.com/user",
    ]
    dialect.quirks.provesAgain = false
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
}
