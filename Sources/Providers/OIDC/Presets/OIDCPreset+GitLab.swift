import BrokerProtocol
import ConfigurationFile
import ProviderKit

extension OIDCPreset {
  /// GitLab.
  static let gitlab = OIDCPreset(
    name: "gitlab", title: "GitLab", issuerKeys: "baseUrl",
    registration: ClientRegistration(
      "${baseUrl:-https://gitlab.com}/-/user_settings/applications",
      "enter the redirect URI http://127.0.0.1:8400/callback, untick Confidential, and tick openid, profile and email",
      keys: ["redirectUri"], redirect: "http://127.0.0.1:8400/callback")
  ) { section in
    .gitlab(baseURL: section.serverAddress("baseUrl") ?? "https://gitlab.com")
  }
}

extension OIDCDialect {
  /// GitLab, at its own address or self-hosted.
  package static func gitlab(baseURL: String) -> OIDCDialect {
    OIDCDialect(
      type: "gitlab", issuer: withoutTrailingSlashes(baseURL), scopes: ["openid", "profile", "email"],
      methods: LoginMethod.withoutPassword)
  }
}
