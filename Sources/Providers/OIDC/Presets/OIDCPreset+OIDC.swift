import ConfigurationFile
import JSON
import ProviderKit

extension OIDCPreset {
  /// Any provider, described by its issuer.
  static let oidc = OIDCPreset(
    name: "oidc", title: "another OpenID Connect provider, by its issuer", issuerKeys: "issuer",
    registration: ClientRegistration(
      nil,
      "ask the provider's operator for a native (public) client: authorization code with PKCE, redirect to http://127.0.0.1 "
        + "with any port, and the device authorization grant where it is offered",
      keys: ["clientSecret", "redirectUri"]),
    takesDiscovery: true
  ) { section in
    section.require("issuer", #"write issuer: "https://…", as the provider writes it itself"#)
    guard let issuer = section.serverAddress("issuer") else { return nil }
    // The issuer itself, not the address of its document, which people copy as often.
    if issuer.includes("/.well-known/") {
      section.report("issuer", "must be the issuer, not the address of its document", "end it before /.well-known/")
      return nil
    }
    return OIDCDialect(type: "oidc", issuer: issuer)
  }
}
