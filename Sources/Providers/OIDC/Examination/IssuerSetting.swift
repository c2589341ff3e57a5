/// The settings of a profile that name its issuer, and their correction.
struct IssuerSetting {
  private let dialect: OIDCDialect

  /// Of a provider.
  init(_ dialect: OIDCDialect) {
    self.dialect = dialect
  }

  /// The names of the settings: the type of provider itself, where it has one issuer for all.
  var names: String { OIDCPreset.named(dialect.type)?.issuerKeys ?? "provider" }

  /// Whether two issuers are of one server.
  static func areOfOneHost(_ issuer: String, _ other: String) -> Bool { host(issuer) == host(other) }

  /// The setting to write where the issuer that the provider names has no document of its own, as at Azure AD B2C: the
  /// endpoints of the document that was found.
  static func correction(_ named: String, withEndpointsOf description: ProviderDescription) -> String {
    let endpoints = OIDCEndpoint.allCases.compactMap { endpoint in
      description.endpoints[endpoint].map { "\(endpoint.rawValue): \"\($0)\"" }
    }
    return
      "There is no document at that one, so write in the profile's section: provider: \"oidc\", issuer: \"\(named)\", "
      + "discovery: false, endpoints: { \(endpoints.joined(separator: ", ")) }"
  }

  /// The line to change, so that the issuer is the one that the provider names.
  func correction(_ named: String) -> String {
    guard dialect.type == OIDCPreset.oidc.name else {
      return "Check \(names) in the profile's section, or use: provider: \"oidc\", issuer: \"\(named)\""
    }
    guard Self.host(named) == Self.host(dialect.issuer) else {
      return "If you trust that one, write in the profile's section: issuer: \"\(named)\"; otherwise ask its operator."
    }
    return "In the profile's section write: issuer: \"\(named)\""
  }

  /// An issuer as people often write it.
  static func withoutSlash(_ issuer: String) -> Substring {
    issuer.hasSuffix("/") ? issuer.dropLast() : Substring(issuer)
  }

  /// Scheme, host and port.
  private static func host(_ issuer: String) -> Substring {
    let parts = issuer.split(separator: "/", maxSplits: 3, omittingEmptySubsequences: false)
    return parts.count > 2 ? parts[2] : ""
  }
}
