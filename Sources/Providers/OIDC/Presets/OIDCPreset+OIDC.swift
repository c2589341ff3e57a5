import ConfigurationFile
import ProviderKit

extension OIDCPreset {
  /// Any provider, described by its issuer.
  static let oidc = OIDCPreset(name: "oidc", issuerKeys: "issuer", takesDiscovery: true) { section in
    section.require("issuer", #"write issuer: "https://…", as the provider writes it itself"#)
    guard let issuer = section.serverAddress("issuer") else { return nil }
    // The issuer itself, not the address of its document, which people copy as often.
    if let end = issuer.firstRange(of: "/.well-known/")?.lowerBound {
      section.report("issuer", "must end before /.well-known/", "write \"\(issuer[..<end])\"")
      return nil
    }
    return OIDCDialect(type: "oidc", issuer: issuer)
  }
}
