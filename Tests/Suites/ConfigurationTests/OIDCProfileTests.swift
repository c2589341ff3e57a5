import BrokerProtocol
import Configuration
import ConfigurationFile
import OIDCProvider
import ProviderKit
import TestSupport
import Testing

/// Profiles on OpenID Connect providers.
@Suite(.standardTimeLimit) struct OIDCProfileTests {
  private func profile(_ text: String) throws(ConfigurationError) -> OIDCProfileConfiguration {
    let configuration = try BrokerConfiguration.parse(
      Array("{profiles:{work:{\(text)}}}".utf8), file: "c", environment: [:])
    guard case .remote(let remote)? = configuration.profiles.first?.provider,
      let profile = remote as? OIDCProfileConfiguration
    else {
      preconditionFailure("the provider speaks OpenID Connect")
    }
    #expect(configuration.profiles.first?.provider.type == profile.dialect.type)
    return profile
  }

  private func error(_ text: String) -> ConfigurationError? {
    do throws(ConfigurationError) {
      _ = try profile(text)
      return nil
    } catch { return error }
  }

  private let base = "provider:'oidc',issuer:'https://op.example.com',clientId:'cli'"

  @Test func `an issuer and a client's name suffice`() throws {
    let profile = try profile(base)
    let methods: [LoginMethod] = [.password, .refreshToken, .browser, .deviceCode]
    #expect(try self.profile(base + ",methods:['device','browser']").dialect.methods == [.deviceCode, .browser])
    #expect(throws: ConfigurationError.self) { try self.profile(base + ",methods:['device','deviceCode']") }
    #expect(profile.dialect == OIDCDialect(type: "oidc", issuer: "https://op.example.com", methods: methods))
    #expect(profile.clientID == "cli" && profile.clientSecret == nil && profile.clientAuthentication == .none)
    #expect(profile.redirect == .standard)
    #expect(profile.dialect.scopes == ["openid"])
    #expect(try self.profile(base + ",clientSecret:{env:'S'}").dialect.methods == methods + [.clientCredentials])
  }

  @Test func `parameters are added to requests, but for those that the broker sets`() throws {
    let profile = try profile(
      base + ",authorizationParameters:{organization:'o',kc_idp_hint:'g'},tokenParameters:{organization:'o'},"
        + "deviceParameters:{'a.b':''}")
    let parameters = profile.dialect.parameters
    #expect(parameters.authorization == [.init("organization", "o"), .init("kc_idp_hint", "g")])
    #expect(parameters.token == [.init("organization", "o")] && parameters.device == [.init("a.b", "")])
    let refused = [
      "authorizationParameters": [
        "client_id", "client_secret", "redirect_uri", "response_type", "response_mode", "scope", "state", "nonce",
        "code_challenge", "code_challenge_method", "dpop_jkt", "request", "request_uri", "audience", "resource",
      ],
      "tokenParameters": ["grant_type", "refresh_token", "client_id", "client_assertion", "scope", "code_verifier"],
      "deviceParameters": ["client_id", "scope", "resource"],
    ]
    for (section, names) in refused {
      for name in names {
        let mistakes = try #require(error(base + ",\(section):{\(name):'x'}")).mistakes
        #expect(mistakes.map(\.path) == ["profiles.work.\(section).\(name)"], "\(section) \(name)")
        #expect(mistakes[0].message.contains("is set by the broker itself"))
      }
    }
    #expect(error(base + ",tokenParameters:{scope:'x'}")?.lines.first?.hasSuffix("write scopes of the profile") == true)
    for name in ["a b", "", "x&redirect_uri", "x=y", "x#y", "x%26y", "\u{e4}"] {
      #expect(error(base + ",authorizationParameters:{'\(name)':'x'}") != nil, "\(name)")
    }
    #expect(error(base + ",authorizationParameters:{a:1}") != nil && error(base + ",deviceParameters:{a:'\\n'}") != nil)
  }

  @Test func `everything that is said is taken`() throws {
    let profile = try profile(
      base
        + """
        ,clientSecret:{env:'S'},clientAuth:'post',scopes:['openid','x:y'],redirectUri:'http://[::1]:8400/back',
        resource:'urn:api',methods:['browser'],discovery:false,endpoints:{token:'https://op.example.com/t',
        authorization:'https://a.example.com/a',deviceAuthorization:'https://op.example.com/d',
        revocation:'https://op.example.com/r',userinfo:'https://op.example.com/u',endSession:'https://op.example.com/e'}
        """)
    #expect(
      profile.clientSecret == SecretReference("clientSecret", .environment("S"))
        && profile.clientAuthentication == .post)
    #expect(profile.dialect.scopes == ["openid", "x:y"] && profile.dialect.methods == [.browser])
    #expect(profile.dialect.resource == "urn:api" && profile.dialect.quirks.target == .resource)
    #expect(!profile.dialect.usesDiscovery && profile.dialect.endpoints.count == OIDCEndpoint.allCases.count)
    #expect(profile.dialect.endpoints[.authorization] == "https://a.example.com/a")
    #expect(profile.dialect.givenEndpoints == Set(OIDCEndpoint.allCases))
    let github = try self.profile("provider:'github',clientId:'c',endpoints:{userinfo:'https://ghe.example.com/user'}")
    #expect(github.dialect.givenEndpoints == [.userinfo] && github.dialect.endpoints.count == 4)
    #expect(profile.redirect.text(port: 8400) == "http://[::1]:8400/back")
    #expect(try self.profile(base + ",clientSecret:{env:'S'}").clientAuthentication == .basic)
  }

  @Test(arguments: [
    (
      "provider:'keycloak',clientId:'c',baseUrl:'https://sso.example.com/',realm:'acme'",
      "https://sso.example.com/realms/acme"
    ),
    ("provider:'auth0',clientId:'c',domain:'acme.eu.auth0.com'", "https://acme.eu.auth0.com/"),
    ("provider:'google',clientId:'c'", "https://accounts.google.com"),
    ("provider:'microsoft',clientId:'c'", "https://login.microsoftonline.com/common/v2.0"),
    ("provider:'microsoft',clientId:'c',tenant:'contoso.com'", "https://login.microsoftonline.com/contoso.com/v2.0"),
    ("provider:'github',clientId:'c'", "https://github.com/login/oauth"),
    ("provider:'gitlab',clientId:'c'", "https://gitlab.com"),
    ("provider:'gitlab',clientId:'c',baseUrl:'https://git.example.com'", "https://git.example.com"),
  ])
  func `a provider that is known by name has its issuer`(_ text: String, _ issuer: String) throws {
    let profile = try profile(text)
    #expect(profile.dialect.issuer == issuer)
    #expect(text.contains("'\(profile.dialect.type)'"))
  }

  @Test func `a provider that is known by name can be told more`() throws {
    let profile = try profile("provider:'auth0',clientId:'c',domain:'a.auth0.com',audience:'https://api',scopes:['x']")
    #expect(profile.dialect.audience == "https://api" && profile.dialect.quirks.target == .audience)
    #expect(profile.dialect.scopes == ["x"])
  }

  @Test(arguments: [
    ("", "clientId"), (",clientId:''", "clientId"), (",clientId:'a b'", "clientId"),
    (",clientId:'c',clientAuth:'basic'", "clientAuth"),
    (",clientId:'c',clientAuth:'none',clientSecret:{env:'S'}", "clientAuth"),
    (",clientId:'c',clientSecret:'x'", "clientSecret"), (",clientId:'c',scopes:['a b']", "scopes[0]"),
    (",clientId:'c',scopes:['\\\"']", "scopes[0]"), (",clientId:'c',resource:'x'", "resource"),
    (",clientId:'c',resource:'https://x/#y'", "resource"),
    (",clientId:'c',methods:['browser','browser']", "methods[1]"),
    (",clientId:'c',methods:['carrierPigeon']", "methods[0]"), (",clientId:'c',discovery:false", "discovery"),
    (",clientId:'c',endpoints:{token:'http://op.example.com/t'}", "endpoints.token"),
    (",clientId:'c',endpoints:{tokens:'https://op.example.com/t'}", "endpoints.tokens"),
    (",clientId:'c',redirectUri:'http://127.0.0.1:65536/'", "redirectUri"),
    (",clientId:'c',redirectUri:'https://127.0.0.1:1/'", "redirectUri"),
    (",clientId:'c',redirectUri:'http://example.com:1/'", "redirectUri"),
    (",clientId:'c',redirectUri:'http://127.0.0.1.example.com:1/'", "redirectUri"),
    (",clientId:'c',redirectUri:'http://127.0.0.1:1/?x'", "redirectUri"),
    (",clientId:'c',realm:'x'", "realm"),
  ])
  func `what is wrong is named`(_ more: String, _ key: String) {
    let error = error("provider:'oidc',issuer:'https://op.example.com'" + more)
    #expect(error?.mistakes.map(\.path) == ["profiles.work.\(key)"])
  }

  @Test(arguments: [
    (
      "provider:'keycloak',clientId:'c',baseUrl:'https://x.example'",
      [#"missing key "realm" in profiles.work; write the realm's name"#]
    ),
    (
      "provider:'keycloak',clientId:'c',realm:'a',baseURL:'https://x.example'",
      [#"unknown key "baseURL" in profiles.work; did you mean "baseUrl"?"#]
    ),
    (
      "provider:'auth0',clientId:'c',issuer:'https://x.example'",
      [
        #"missing key "domain" in profiles.work; write the tenant's domain, such as "acme.eu.auth0.com""#,
        #"unknown key "issuer" in profiles.work; it is for the providers oidc, mcp"#,
      ]
    ),
    (
      "provider:'github',clientId:'c',baseUrl:'https://x.example'",
      [#"unknown key "baseUrl" in profiles.work; it is for the providers rest, keycloak, gitlab, firebase"#]
    ),
    (
      "provider:'gitlab'", [#"missing key "clientId" in profiles.work; write the client's id as the provider gave it"#]
    ),
    (
      "provider:'oidc',clientId:'c',issuer:'https://x.example',methods:['clientCredentials']",
      [#"profiles.work.methods[0]: "clientCredentials" needs clientSecret, privateKey or clientAssertion"#]
    ),
  ])
  func `what is missing, and what is another provider's, is told as that`(_ text: String, _ expected: [String]) throws {
    let lines = try #require(error(text)).mistakes.map { mistake in
      mistake.line.split(separator: " ", maxSplits: 1).last.map(String.init) ?? ""
    }
    #expect(lines == expected)
  }

  @Test func `a resource is enough, and names its issuer and client where it must`() throws {
    let mcp = "provider:'mcp',resource:'https://mcp.example.com/x?tenant=a'"
    let profile = try profile(mcp)
    #expect(profile.resourcePlan == ResourcePlan() && profile.clientID.isEmpty && profile.dialect.scopes.isEmpty)
    #expect(profile.dialect.resource == "https://mcp.example.com/x?tenant=a" && profile.dialect.quirks.needsProof)
    #expect(profile.dialect.methods == [.refreshToken, .browser, .deviceCode])
    let told = try self.profile(
      mcp + ",issuer:'https://as.example.com',clientMetadataUrl:'https://me.example.com/c.json',clientId:'c'")
    #expect(told.resourcePlan?.issuer == "https://as.example.com" && told.clientID == "c")
    #expect(told.resourcePlan?.clientMetadataURL == "https://me.example.com/c.json")
    for (wrong, key) in [
      ("provider:'mcp'", "resource"), ("provider:'mcp',resource:'mcp.example.com'", "resource"),
      ("provider:'mcp',resource:'http://mcp.example.com/'", "resource"),
      ("provider:'mcp',resource:'urn:mcp'", "resource"), (mcp + ",issuer:'x'", "issuer"),
      (mcp + ",clientMetadataUrl:'https://me.example.com'", "clientMetadataUrl"),
      (mcp + ",clientMetadataUrl:'http://localhost/c'", "clientMetadataUrl"),
      (base + ",clientMetadataUrl:'https://me.example.com/c'", "clientMetadataUrl"),
    ] { #expect(error(wrong)?.mistakes.map(\.path) == ["profiles.work.\(key)"], "\(wrong)") }
  }

  @Test(arguments: [
    ("http://127.0.0.1:0/callback", 0, "/callback"), ("http://[::1]:8400", 8400, "/"),
    ("http://localhost:9/a/b", 9, "/a/b"), ("http://127.0.0.1/x", 80, "/x"),
  ])
  func `loopback addresses are read`(_ text: String, _ port: Int, _ path: String) throws {
    let redirect = try #require(LoopbackRedirect(text))
    #expect(redirect.port == port && redirect.path == path)
  }
}
