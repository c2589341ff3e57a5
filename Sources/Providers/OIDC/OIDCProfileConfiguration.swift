package import BrokerCore
package import BrokerProtocol
package import ConfigurationFile
package import HTTP
package import ProviderKit

/// A profile on an OpenID Connect provider, described or known by name.
package struct OIDCProfileConfiguration: Sendable, Equatable {
  /// The dialect of the provider.
  package var dialect: OIDCDialect
  /// The client's name at the provider.
  package var clientID: String
  /// The reference to the client's password.
  package var clientSecret: SecretReference?
  /// The source of the client's assertion; nil for one with a password, or none.
  package var clientAssertion: ClientAssertion?
  /// The client authentication.
  package var clientAuthentication: OIDCDialect.ClientAuthentication
  /// The redirect address of browser logins.
  package var redirect: LoopbackRedirect
  /// The accepted certificates, at each of its endpoints.
  package var tls: TLSPolicy
  /// The keys of a resource from which the issuer is found; nil where the profile names it.
  package var resourcePlan: ResourcePlan?

  /// A client of a provider; one without a password is known by its name alone.
  package init(
    dialect: OIDCDialect, clientID: String, clientSecret: SecretReference? = nil,
    clientAssertion: ClientAssertion? = nil,
    clientAuthentication: OIDCDialect.ClientAuthentication = .none, redirect: LoopbackRedirect = .standard,
    tls: TLSPolicy = TLSPolicy()
  ) {
    self.dialect = dialect
    self.clientID = clientID
    self.clientSecret = clientSecret
    self.clientAssertion = clientAssertion
    self.clientAuthentication = clientAuthentication
    self.redirect = redirect
    self.tls = tls
  }

  /// Reads the provider from a profile's section.
  ///
  /// - Returns: nil where a setting is missing or faulty that has no default.
  package init?(_ preset: OIDCPreset, _ section: inout ConfigurationSection) {
    let known = preset.dialect(&section)
    // Where the address is faulty, what else the profile says is examined all the same.
    dialect = known ?? OIDCDialect(type: preset.name, issuer: "")
    if preset.needsClient { section.require("clientId", "write the client's id as the provider gave it") }
    clientID = section.word("clientId") ?? ""
    clientSecret = SecretReference.read("clientSecret", in: &section)
    let proof = ClientProofSettings(&section)
    clientAuthentication = proof.method
    clientAssertion = proof.assertion
    redirect = Self.redirect(&section)
    Self.readTarget(&dialect, &section)
    dialect.parameters = OIDCParameters(&section)
    var endpointsSection = section.section("endpoints")
    Self.readEndpoints(&dialect, &endpointsSection)
    if preset.takesDiscovery {
      dialect.usesDiscovery = section.flag("discovery", standard: true)
      if !dialect.usesDiscovery, !endpointsSection.has(OIDCEndpoint.token.rawValue) {
        section.report("discovery", "cannot be false without endpoints.token")
      }
    }
    var tlsSection = section.section("tls")
    tls = TLSPolicy(&tlsSection)
    dialect.grant = MachineGrant(&section)
    dialect.pushesAuthorization = section.flag("par", standard: false)
    if dialect.pushesAuthorization, !dialect.usesDiscovery {
      section.report("par", "needs discovery", "the provider's metadata name the endpoint for it")
    }
    dialect.bindsTokens = section.flag("dpop", standard: false)
    readMethods(&section)
    let errorsSection = section.section("errors")
    dialect.quirks.errorKinds = errorsSection.errorKinds(among: RefusalMeaning.possibleKinds)
    if !preset.needsClient { resourcePlan = ResourcePlan(&section) }
    guard known != nil, !clientID.isEmpty || !preset.needsClient else { return nil }
  }

  /// Whether the client can show who it is.
  package var hasProof: Bool { clientSecret != nil || clientAssertion != nil }

  /// Reads the methods; without a proof a client cannot log in by itself (RFC 6749, section 4.4).
  private mutating func readMethods(_ section: inout ConfigurationSection) {
    guard !section.has("grant") else {
      _ = section.strings("methods")
      // No one logs in, and what is not wished for is the server's to choose.
      dialect.methods = []
      if !section.has("scopes") { dialect.scopes = [] }
      return
    }
    guard let names = section.strings("methods") else {
      if !hasProof { dialect.methods.removeAll { $0 == .clientCredentials } }
      return
    }
    if names.isEmpty { section.report("methods", "must name at least one login method") }
    var methods: [LoginMethod] = []
    for (index, name) in names.enumerated() {
      guard let method = LoginMethod(name: name) else {
        Self.reportUnknown(name, index, section)
        continue
      }
      if methods.contains(method) {
        section.report("methods", element: index, "\"\(method.rawValue)\" is named twice", "remove one of them")
      }
      if method == .clientCredentials, !ClientProofSettings.isGiven(in: section) {
        section.report(
          "methods", element: index, #""clientCredentials" needs clientSecret, privateKey or clientAssertion"#)
      }
      methods.append(method)
    }
    dialect.methods = methods
  }

  private static func reportUnknown(_ name: String, _ index: Int, _ section: ConfigurationSection) {
    let methods = LoginMethod.allCases.map(\.rawValue)
    let meant = Spelling.nearest(to: name, among: methods + LoginMethod.aliases.keys.sorted())
      .flatMap { LoginMethod(name: $0)?.rawValue }
    section.report(
      "methods", element: index, "unknown login method" + section.quoted("methods", element: index),
      meant.map { "did you mean \"\($0)\"?" } ?? "use one of: \(methods.joined(separator: ", "))")
  }

  private static func redirect(_ section: inout ConfigurationSection) -> LoopbackRedirect {
    guard let text = section.string("redirectUri", takesAny: false) else { return .standard }
    if let redirect = LoopbackRedirect(text) { return redirect }
    section.report(
      "redirectUri", "must be http:// with 127.0.0.1, [::1] or localhost, a port (0: any) and a path",
      #"for any free port write "http://127.0.0.1:0/callback""#)
    return .standard
  }

  /// Scopes, audience and resource.
  private static func readTarget(_ dialect: inout OIDCDialect, _ section: inout ConfigurationSection) {
    if let scopes = section.strings("scopes") {
      if scopes.isEmpty { section.report("scopes", "must name at least one scope") }
      for (index, scope) in scopes.enumerated() where !isScope(scope) {
        section.report(
          "scopes", element: index, "a scope has visible characters without quotes and backslashes",
          scope.contains(" ") ? "write each scope as a string of its own" : nil)
      }
      dialect.scopes = scopes
    }
    if let audience = section.word("audience") {
      dialect.audience = audience
      dialect.quirks.target = .audience
    }
    if !section.isFaulty("resource"), let resource = section.absoluteURI("resource") {
      dialect.resource = resource
      dialect.quirks.target = .resource
    }
  }

  private static func readEndpoints(_ dialect: inout OIDCDialect, _ section: inout ConfigurationSection) {
    for endpoint in OIDCEndpoint.allCases {
      if let address = section.serverAddress(endpoint.rawValue) { dialect.give(address, for: endpoint) }
    }
    let metadataNames = OIDCEndpoint.allCases.map { ($0.metadataName, $0.rawValue) }
    section.finish(aliases: Dictionary(uniqueKeysWithValues: metadataNames))
  }

  /// RFC 6749, section 3.3.
  private static func isScope(_ word: String) -> Bool {
    (1...256).contains(word.utf8.count)
      && word.utf8.allSatisfy { (0x21...0x7E).contains($0) && $0 != UInt8(ascii: "\"") && $0 != UInt8(ascii: "\\") }
  }
}

extension OIDCProfileConfiguration: RemoteConfiguration {
  package var type: String { dialect.type }

  package var subjects: [(key: String, profile: ProfileName)] {
    switch dialect.grant {
    case .clientCredentials, nil: []
    case .jwtBearer(let source): source.profile.map { [("assertion.from", $0)] } ?? []
    case .exchange(let exchange):
      [("subjectToken.from", exchange.subject.profile), ("actorToken.from", exchange.actor?.profile)].compactMap {
        key, profile in profile.map { (key, $0) }
      }
    }
  }

  package func makeProvider(
    client: HTTPClient, secrets: @escaping SecretFinder
  ) throws(HTTPFailure) -> any AuthProvider {
    try OIDCProvider(
      self, client: client, secrets: secrets, discovery: try Discovery.shared(dialect, client, tls))
  }

  package func makeProvider(
    client: HTTPClient, secrets: @escaping SecretFinder, clients: RegisteredClients
  ) throws(HTTPFailure) -> any AuthProvider {
    guard resourcePlan != nil else { return try makeProvider(client: client, secrets: secrets) }
    return try ResourceProvider(self, client: client, secrets: secrets, clients: clients)
  }
}
