import BrokerProtocol
import HTTP
import ProviderKit

/// Compares a provider's metadata with the needs of a profile.
struct DescriptionReview: Sendable {
  /// The metadata.
  let description: ProviderDescription
  /// The dialect of the profile.
  let dialect: OIDCDialect
  /// The client authentication.
  let authentication: OIDCDialect.ClientAuthentication
  /// Whether the issuer that the provider names was looked for, and has no document.
  var isIssuerNowhere = false

  /// Everything there is to say, the worst first, to be fixed first.
  var findings: [ProviderFinding] {
    [issuer] + endpoints + [pkce, issuerInReply, possession].compactMap(\.self) + grants + [client] + scopes
  }

  /// Whether the document is the provider's own (OpenID Connect Discovery, section 4.3).
  private var issuer: ProviderFinding {
    let check = "issuer"
    guard let named = description.issuer, !named.isEmpty else {
      return ProviderFinding(
        check, .failure, "The document names no issuer.",
        advice: "This is not an OpenID Connect provider; check \(IssuerSetting(dialect).names).",
        errorKind: .invalidResponse)
    }
    if description.isOwn(dialect) {
      return ProviderFinding(check, .ok, "the document's issuer is the configured one: \(named)")
    }
    let isSlash = IssuerSetting.withoutSlash(named) == IssuerSetting.withoutSlash(dialect.issuer)
    let how = isSlash ? "differs in its trailing slash" : "is a different one"
    return ProviderFinding(
      check, .failure, "The document's issuer \(how): it says \"\(named)\", the configuration \"\(dialect.issuer)\".",
      advice: isIssuerNowhere
        ? IssuerSetting.correction(named, withEndpointsOf: description) : IssuerSetting(dialect).correction(named),
      errorKind: .configInvalid)
  }

  /// The finding on whether redirects can be distinguished from those of another provider (RFC 9207).
  private var issuerInReply: ProviderFinding? {
    guard dialect.methods.contains(.browser) else { return nil }
    return description.namesIssuer
      ? ProviderFinding("issuerInReply", .ok, "authorization responses carry the issuer (RFC 9207)")
      : ProviderFinding("issuerInReply", .note, "Authorization responses do not carry the issuer (RFC 9207).")
  }

  /// The finding on whether tokens can be bound to a key (RFC 9449, section 5.1), where they are to be.
  private var possession: ProviderFinding? {
    guard dialect.bindsTokens else { return nil }
    switch description[.proofAlgorithms] {
    case nil:
      return ProviderFinding(
        "dpop", .warning, "It does not announce that it binds tokens to keys (dpop_signing_alg_values_supported).",
        advice: "Ask the operator to enable DPoP (RFC 9449), or remove dpop: tokens that are not bound are not taken.")
    case let algorithms? where algorithms.contains("ES256"):
      return ProviderFinding("dpop", .ok, "it binds tokens to keys (DPoP) with ES256")
    case _?:
      return ProviderFinding(
        "dpop", .failure, "It binds tokens to keys (DPoP), but not with ES256: no login will work.",
        advice: "Ask the operator to enable ES256 (RFC 9449, section 5.1), or remove dpop.",
        errorKind: .providerRejected)
    }
  }

  private var pkce: ProviderFinding? {
    guard dialect.methods.contains(.browser), endpoint(.authorization) != nil else { return nil }
    switch description[.challengeMethods] {
    case nil where dialect.quirks.needsProof:
      return ProviderFinding(
        "pkce", .failure,
        "It does not announce support for PKCE (code_challenge_methods_supported): no login is begun.",
        advice: "Ask the operator to enable and announce S256 (RFC 7636).", errorKind: .providerRejected)
    case nil:
      return ProviderFinding(
        "pkce", .warning, "It does not announce support for PKCE (code_challenge_methods_supported).",
        advice: "It is sent anyway; ask the operator to enable S256.")
    case let methods? where methods.contains("S256"):
      return ProviderFinding("pkce", .ok, "it supports PKCE with S256")
    case _?:
      return ProviderFinding(
        "pkce", .failure, "It supports PKCE, but not with S256: --method browser will not work.",
        advice: "Ask the operator to enable S256 (RFC 7636, section 4.2).")
    }
  }

  /// Whether the ways to log in are there.
  private var grants: [ProviderFinding] {
    guard let offered = description[.grants] else {
      return [ProviderFinding("grants", .note, "It does not list its grant types.")]
    }
    let wanted: [(grant: String, loss: String, isMissed: Bool)] =
      [
        ("refresh_token", "sessions end when their access token expires", dialect.grant == nil),
        ("authorization_code", "no --method browser", dialect.methods.contains(.browser)),
        (
          "urn:ietf:params:oauth:grant-type:device_code", "no --method deviceCode",
          dialect.methods.contains(.deviceCode)
        ),
        ("password", "no login with a password", dialect.methods.contains(.password)),
        ("client_credentials", "no client credentials grant", dialect.methods.contains(.clientCredentials)),
      ] + (dialect.grant.map { [($0.grantType, "no tokens for this profile", true)] } ?? [])
    let missing = wanted.filter { $0.isMissed && !offered.contains($0.grant) }
    guard !missing.isEmpty else { return [ProviderFinding("grants", .ok, "it lists every grant type that is used")] }
    return missing.map { entry in
      let name = entry.grant.split(separator: ":").last.map(String.init) ?? entry.grant
      return ProviderFinding(
        "grants." + name, name == "refresh_token" ? .warning : .note,
        "It does not list the grant type \(name): \(entry.loss).",
        advice: name == "password" ? "Many providers disable it (RFC 9700, section 2.4)." : nil)
    }
  }

  /// Whether the token endpoint accepts the profile's client authentication; Basic where the metadata do not say.
  private var client: ProviderFinding {
    let check = "clientAuth"
    let offered = description[.clientAuthentications] ?? ["client_secret_basic"]
    let names: [OIDCDialect.ClientAuthentication: String] = [
      .basic: "client_secret_basic", .post: "client_secret_post", .none: "none", .privateKeyJWT: "private_key_jwt",
    ]
    guard authentication != .assertion else {
      return ProviderFinding(check, .note, "Only a request shows whether the token endpoint takes clientAssertion.")
    }
    guard let name = names[authentication], !offered.contains(name) else {
      return ProviderFinding(check, .ok, "the token endpoint supports clientAuth: \"\(authentication.rawValue)\"")
    }
    guard authentication != .none else {
      return ProviderFinding(
        check, .note, "The token endpoint does not list public clients (none).",
        advice: "Many accept them anyway; if a login fails with providerRejected, configure clientSecret.")
    }
    let passwords = names.filter { $0.key == .basic || $0.key == .post }
    let other = passwords.first {
      $0.key != authentication && authentication != .privateKeyJWT && offered.contains($0.value)
    }
    return ProviderFinding(
      check, .warning, "The token endpoint does not list clientAuth: \"\(authentication.rawValue)\" (\(name)).",
      advice: other.map { "In the profile's section write: clientAuth: \"\($0.key.rawValue)\"" }
        ?? "Check the client's registration at the provider.")
  }

  private var scopes: [ProviderFinding] {
    guard let offered = description[.scopes] else { return [] }
    let missing = dialect.scopes.filter { !offered.contains($0) }
    var findings: [ProviderFinding] = []
    if missing.isEmpty {
      findings.append(ProviderFinding("scopes", .ok, "it lists every requested scope"))
    } else {
      findings.append(
        ProviderFinding(
          "scopes", .warning, "It does not list: \(missing.prefix(8).joined(separator: ", ")).",
          advice: "Check scopes in the profile's section; a provider need not list all that it supports."))
    }
    if offered.contains("offline_access"), !dialect.scopes.contains("offline_access") {
      findings.append(
        ProviderFinding(
          "scopes.offline", .note, "It supports offline_access, which is not requested.",
          advice: "If there is no refresh token after a login, add it to scopes."))
    }
    // `init` goes by these names.
    for (scope, what) in [("profile", "name"), ("email", "e-mail address")]
    where offered.contains(scope) && !dialect.scopes.contains(scope) && dialect.scopes.contains("openid") {
      findings.append(
        ProviderFinding(
          "scopes." + scope, .note, "It supports \(scope), which is not requested.",
          advice: "Add it to scopes, if programs are to know the user's \(what)."))
    }
    return findings
  }
}

/// Whether everything can be called.
extension DescriptionReview {
  /// The address that is called; the configuration goes before the document.
  private func endpoint(_ endpoint: OIDCEndpoint) -> String? {
    dialect.endpoints[endpoint] ?? description.endpoints[endpoint]
  }

  private var endpoints: [ProviderFinding] {
    let findings = OIDCEndpoint.allCases.map(finding)
    let present = OIDCEndpoint.allCases.filter { endpoint in
      findings.contains { $0.check == "endpoint." + endpoint.rawValue && $0.level == .ok }
    }
    let list = present.map(\.rawValue).joined(separator: ", ")
    let summary = present.isEmpty ? [] : [ProviderFinding("endpoints", .ok, "there are endpoints for: \(list)")]
    return summary + findings.filter { $0.level != .ok }
  }

  private func finding(_ endpoint: OIDCEndpoint) -> ProviderFinding {
    let check = "endpoint." + endpoint.rawValue
    guard let text = self.endpoint(endpoint) else { return missing(endpoint, check) }
    let isSecure = dialect.issuer.lowercased().hasPrefix("https:")
    guard let url = try? HTTPURL(text), url.scheme == .https || !isSecure else {
      return ProviderFinding(
        check, endpoint == .token ? .failure : .warning,
        "\(endpoint.metadataName) is not used, because it is not https: \(text)",
        advice: "Ask the operator to correct its public URL; often a proxy in front of it hides the scheme.")
    }
    let own = try? HTTPURL(dialect.issuer)
    guard own == nil || own?.host == url.host else {
      return ProviderFinding(check, .note, "\(endpoint.metadataName) is on another host: \(url.authority)")
    }
    return ProviderFinding(check, .ok, "")
  }

  /// The finding for a missing endpoint, with what is lost without it.
  private func missing(_ endpoint: OIDCEndpoint, _ check: String) -> ProviderFinding {
    let name = endpoint.metadataName
    let setting = "If there is one, name it in the profile's section: endpoints.\(endpoint.rawValue)"
    func finding(_ level: ProviderFinding.Level, _ loss: String) -> ProviderFinding {
      ProviderFinding(
        check, level, "There is no \(name): \(loss).", advice: level == .note ? nil : setting)
    }
    switch endpoint {
    case .token: return finding(.failure, "no login")
    case .authorization: return finding(dialect.methods.contains(.browser) ? .warning : .note, "no --method browser")
    case .deviceAuthorization: return finding(.note, "no --method deviceCode")
    case .revocation: return finding(.warning, "a logout ends the session here only")
    case .userinfo: return finding(.note, "the user is known only from the ID token")
    case .endSession: return finding(.note, "a logout leaves the browser logged in there")
    }
  }
}
