import BrokerProtocol
package import OIDCDialect

/// A profile on an OpenID Connect provider, described or known by name.
package struct OIDCProfileConfiguration: Sendable, Equatable {
  /// How the provider is spoken to.
  package var dialect: OIDCDialect
  /// The client's name at the provider.
  package var clientID: String
  /// Where the client's password is.
  package var clientSecret: SecretReference?
  /// How the client makes itself known.
  package var clientAuthentication: OIDCDialect.ClientAuthentication
  /// Where a browser comes back to.
  package var redirect: LoopbackRedirect
  /// Whom the provider's certificates must come from.
  package var tls: TLSConfiguration

  /// Reads what a profile's section says of its provider.
  ///
  /// - Throws: ``ConfigurationError`` at the first wrong value; unknown keys are the profile's to refuse.
  init(_ preset: OIDCPreset, _ section: inout ConfigurationSection) throws(ConfigurationError) {
    try Self.refuseOtherAddresses(preset, section)
    dialect = try Self.dialect(preset, &section)
    guard let id = try section.text("clientId"), Self.isVisible(id) else {
      throw section.failure("clientId", "must be given: the client's name at the provider")
    }
    clientID = id
    clientSecret = try SecretReference.read("clientSecret", in: &section)
    clientAuthentication = try Self.authentication(hasSecret: clientSecret != nil, &section)
    redirect = .standard
    if let text = try section.text("redirectUri") {
      guard let address = LoopbackRedirect(text) else {
        throw section.failure(
          "redirectUri", "must be http:// with 127.0.0.1, [::1] or localhost, a port (0: any) and a path")
      }
      redirect = address
    }
    try Self.readWishes(&dialect, &section)
    var endpointsSection = try section.section("endpoints")
    try Self.readEndpoints(&dialect, &endpointsSection)
    if dialect.type == OIDCPreset.oidc.rawValue {
      dialect.usesDiscovery = try section.flag("discovery", standard: true)
      guard dialect.usesDiscovery || dialect.endpoints[.token] != nil else {
        throw section.failure("discovery", "cannot be off without endpoints.token")
      }
    }
    var tlsSection = try section.section("tls")
    tls = try TLSConfiguration(&tlsSection)
    try readMethods(&section)
  }

  /// Reads the ways in; without a password a client has no way in by itself (RFC 6749, section 4.4).
  private mutating func readMethods(_ section: inout ConfigurationSection) throws(ConfigurationError) {
    guard let names = try section.texts("methods") else {
      if clientSecret == nil { dialect.methods.removeAll { $0 == .clientCredentials } }
      return
    }
    let methods = names.compactMap { LoginMethod(name: $0) }
    guard !methods.isEmpty, methods.count == names.count, Set(methods).count == methods.count else {
      let words = LoginMethod.allCases.map { "\"\($0.rawValue)\"" }.joined(separator: ", ")
      throw section.failure("methods", "must be different ones of \(words)")
    }
    guard clientSecret != nil || !methods.contains(.clientCredentials) else {
      throw section.failure("methods", #"cannot have "clientCredentials" without clientSecret"#)
    }
    dialect.methods = methods
  }

  /// The keys by which each preset finds its provider.
  private static func addressKeys(_ preset: OIDCPreset) -> [String] {
    switch preset {
    case .oidc: ["issuer"]
    case .keycloak: ["baseUrl", "realm"]
    case .auth0: ["domain"]
    case .google, .github: []
    case .microsoft: ["tenant"]
    case .gitlab: ["baseUrl"]
    }
  }

  /// Refuses the address of another preset: that this one's own is missing would say less.
  private static func refuseOtherAddresses(
    _ preset: OIDCPreset, _ section: ConfigurationSection
  ) throws(ConfigurationError) {
    let own = addressKeys(preset)
    var words = "which is found by " + own.joined(separator: " and ")
    if own.isEmpty { words = #"whose address is known; another server is an "oidc""# }
    for key in OIDCPreset.allCases.flatMap(addressKeys) where !own.contains(key) {
      let problem = "is not for the provider \"\(preset.rawValue)\", \(words)"
      if let failure = section.failure(ofKey: key, problem) { throw failure }
    }
  }

  /// What the preset needs to know.
  private static func dialect(
    _ preset: OIDCPreset, _ section: inout ConfigurationSection
  ) throws(ConfigurationError) -> OIDCDialect {
    switch preset {
    case .oidc: OIDCDialect(type: preset.rawValue, issuer: try issuer(&section))
    case .keycloak:
      .keycloak(
        baseURL: try address("baseUrl", nil, &section),
        realm: try name("realm", "a realm's name, without slashes and blanks", nil, &section))
    case .auth0: .auth0(domain: try domain(&section))
    case .google: .google
    case .microsoft:
      .microsoft(tenant: try name("tenant", #"a tenant's id or domain, or "common""#, "common", &section))
    case .github: .github
    case .gitlab: .gitlab(baseURL: try address("baseUrl", "https://gitlab.com", &section))
    }
  }

  private static func address(
    _ key: String, _ standard: String?, _ section: inout ConfigurationSection
  ) throws(ConfigurationError) -> String {
    guard let text = try section.text(key) ?? standard, ServerAddress.isBaseURL(text) else {
      throw section.failure(key, ServerAddress.expectation)
    }
    return text
  }

  /// The issuer itself, not the address of its document, which people copy as often.
  private static func issuer(_ section: inout ConfigurationSection) throws(ConfigurationError) -> String {
    let issuer = try address("issuer", nil, &section)
    let parts = issuer.split(separator: "/.well-known/", maxSplits: 1, omittingEmptySubsequences: false)
    guard parts.count == 1 else {
      throw section.failure("issuer", #"must be the part before /.well-known/: "\#(parts[0])""#)
    }
    return issuer
  }

  private static func domain(_ section: inout ConfigurationSection) throws(ConfigurationError) -> String {
    guard let text = try section.text("domain"), !text.contains("/"), ServerAddress.isBaseURL("https://" + text) else {
      throw section.failure("domain", #"must be the tenant's domain, such as "acme.eu.auth0.com""#)
    }
    return text
  }

  /// One segment of a path.
  private static func name(
    _ key: String, _ what: String, _ standard: String?, _ section: inout ConfigurationSection
  ) throws(ConfigurationError) -> String {
    guard let text = try section.text(key) ?? standard, !text.contains("/"), !text.isEmpty,
      ServerAddress.isPath("/" + text)
    else { throw section.failure(key, "must be \(what)") }
    return text
  }

  /// A client with a password makes itself known by HTTP Basic, unless it is said otherwise; one without cannot.
  private static func authentication(
    hasSecret: Bool, _ section: inout ConfigurationSection
  ) throws(ConfigurationError) -> OIDCDialect.ClientAuthentication {
    let standard: OIDCDialect.ClientAuthentication = hasSecret ? .basic : .none
    let chosen = try section.read(ChoiceSetting("clientAuth", standard: standard))
    guard hasSecret || chosen == .none else { throw section.failure("clientAuth", "needs clientSecret") }
    guard !hasSecret || chosen != .none else {
      throw section.failure("clientAuth", #"cannot be "none": there is a clientSecret"#)
    }
    return chosen
  }

  /// Scopes and audience.
  private static func readWishes(
    _ dialect: inout OIDCDialect, _ section: inout ConfigurationSection
  ) throws(ConfigurationError) {
    if let scopes = try section.texts("scopes") {
      guard !scopes.isEmpty, scopes.allSatisfy(isScope) else {
        throw section.failure("scopes", "must be words of visible characters without quotes and backslashes")
      }
      dialect.scopes = scopes
    }
    if let audience = try section.text("audience") {
      guard isVisible(audience) else { throw section.failure("audience", "must be a text of visible characters") }
      dialect.audience = audience
      dialect.quirks.target = .audience
    }
    if let resource = try section.text("resource") {
      guard ServerAddress.isAbsoluteURI(resource) else {
        throw section.failure("resource", "must be an absolute URI without a fragment (RFC 8707)")
      }
      dialect.resource = resource
      dialect.quirks.target = .resource
    }
  }

  private static func readEndpoints(
    _ dialect: inout OIDCDialect, _ section: inout ConfigurationSection
  ) throws(ConfigurationError) {
    for endpoint in OIDCEndpoint.allCases {
      guard let text = try section.text(endpoint.rawValue) else { continue }
      guard ServerAddress.isBaseURL(text) else {
        throw section.failure(endpoint.rawValue, ServerAddress.expectation)
      }
      dialect.give(text, for: endpoint)
    }
    try section.refuseUnknownKeys()
  }

  /// RFC 6749, section 3.3.
  private static func isScope(_ word: String) -> Bool {
    isVisible(word) && !word.contains("\"") && !word.contains("\\")
  }

  private static func isVisible(_ text: String) -> Bool {
    (1...256).contains(text.utf8.count) && text.utf8.allSatisfy { (0x21...0x7E).contains($0) }
  }
}
