import BrokerProtocol
import ConfigurationFile
import ProviderKit

extension OIDCPreset {
  /// GitLab.
  static let gitlab = OIDCPreset(name: "gitlab", title: "GitLab", issuerKeys: "baseUrl") { section in
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
