import BrokerProtocol
import ConfigurationFile
import ProviderKit

extension OIDCPreset {
  /// Microsoft's identity platform.
  static let microsoft = OIDCPreset(
    name: "microsoft", title: "Microsoft Entra ID", issuerKeys: "tenant",
    registration: ClientRegistration(
      "https://entra.microsoft.com/#view/Microsoft_AAD_RegisteredApps/CreateApplicationBlade",
      "enter the redirect URI http://localhost for the platform Public client/native, and then allow public client flows; "
        + "the ID is called Application (client) ID",
      keys: ["redirectUri"], redirect: "http://localhost:0/")
  ) { section in
    .microsoft(tenant: section.pathSegment("tenant", #"must be a tenant's id or domain, or "common""#) ?? "common")
  }
}

extension OIDCDialect {
  /// Microsoft's identity platform, for one tenant (its id or a domain) or for all (`common`, `organizations`,
  /// `consumers`).
  ///
  /// Metadata and ID tokens name the tenant by its id, whatever name the profile uses.
  package static func microsoft(tenant: String) -> OIDCDialect {
    var dialect = OIDCDialect(
      type: "microsoft", issuer: "https://login.microsoftonline.com/\(tenant)/v2.0",
      scopes: ["openid", "profile", "email", "offline_access"], methods: LoginMethod.withoutPassword)
    dialect.quirks.issuerRule = .tenant
    dialect.quirks.errorNames = ["bad_verification_code": "invalid_grant"]
    dialect.quirks.target = .none
    return dialect
  }
}
