import ConfigurationFile
import ProviderKit

extension OIDCPreset {
  /// A realm of a Keycloak server.
  static let keycloak = OIDCPreset(
    name: "keycloak", title: "Keycloak", issuerKeys: "baseUrl and realm",
    registration: ClientRegistration(
      "${baseUrl}/admin/master/console/#/${realm}/clients/add-client",
      "leave Client authentication off, tick OAuth 2.0 Device Authorization Grant, and enter the valid redirect URI "
        + "http://127.0.0.1/*",
      keys: ["clientSecret"])
  ) { section in
    section.require("baseUrl", #"write baseUrl: "https://…", the address of the server"#)
    section.require("realm", "write the realm's name")
    let url = section.serverAddress("baseUrl")
    let realm = section.pathSegment("realm", "must be a realm's name, without slashes and blanks")
    guard let url, let realm else { return nil }
    return .keycloak(baseURL: url, realm: realm)
  }
}

extension OIDCDialect {
  /// A realm of a Keycloak server.
  ///
  /// Its end-session endpoint takes a refresh token from the client itself and ends all of the user's session with it.
  package static func keycloak(baseURL: String, realm: String) -> OIDCDialect {
    var dialect = OIDCDialect(type: "keycloak", issuer: withoutTrailingSlashes(baseURL) + "/realms/" + realm)
    dialect.quirks.endsSessionWithRefreshToken = true
    return dialect
  }
}
