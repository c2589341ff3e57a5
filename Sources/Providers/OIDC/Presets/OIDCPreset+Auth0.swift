import BrokerCore
import ConfigurationFile
import ProviderKit

extension OIDCPreset {
  /// A tenant of Auth0.
  static let auth0 = OIDCPreset(
    name: "auth0", title: "Auth0", issuerKeys: "domain",
    abilities: [.getCurrentUser, .createProof, .resendOtp, .verifyBackupCode],
    registration: ClientRegistration(
      "https://manage.auth0.com/#/applications",
      "create a native application with the callback URL http://127.0.0.1:8400/callback and the grants Authorization Code, "
        + "Refresh Token and Device Code",
      keys: ["redirectUri"], redirect: "http://127.0.0.1:8400/callback")
  ) { section in
    section.require("domain", #"write the tenant's domain, such as "acme.eu.auth0.com""#)
    return section.serverName("domain", #"must be the tenant's domain, such as "acme.eu.auth0.com""#)
      .map { .auth0(domain: $0) }
  }
}

extension OIDCDialect {
  /// A tenant of Auth0, by its domain; its issuer ends with a slash.
  package static func auth0(domain: String) -> OIDCDialect {
    var dialect = OIDCDialect(
      type: "auth0", issuer: "https://\(domain)/",
      scopes: ["openid", "profile", "email", "offline_access"])
    dialect.quirks.target = .audience
    dialect.quirks.asksForSecondFactor = true
    return dialect
  }
}
