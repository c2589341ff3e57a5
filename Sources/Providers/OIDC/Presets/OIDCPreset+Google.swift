import BrokerProtocol
import ProviderKit

extension OIDCPreset {
  /// Google.
  static let google = OIDCPreset(
    name: "google", title: "Google",
    registration: ClientRegistration(
      "https://console.cloud.google.com/auth/clients/create",
      "choose the application type Desktop app; a client secret is shown with the ID, which the profile needs too",
      keys: ["clientSecret"])
  ) { _ in .google }
}

extension OIDCDialect {
  /// Google: it gives a refresh token only to a request with parameters of its own, and only after consent.
  package static var google: OIDCDialect {
    var dialect = OIDCDialect(
      type: "google", issuer: "https://accounts.google.com", scopes: ["openid", "email", "profile"],
      methods: LoginMethod.withoutPassword)
    dialect.quirks.otherIssuers = ["accounts.google.com"]
    dialect.quirks.authorizationParameters = [.init("access_type", "offline"), .init("prompt", "consent")]
    // `prompt` is `none`, `consent` or `select_account` there, and nothing else.
    dialect.quirks.provesAgain = false
    dialect.quirks.target = .none
    return dialect
  }
}
