import BrokerCore
import BrokerProtocol
import Configuration
import HTTP
import LocalProvider
import ProviderKit
import SecretMemory
import TestSupport
import Testing

/// What each provider can do under several configurations.
@Suite(.standardTimeLimit) struct ProviderAbilityTests {
  /// What a profile says, and what its provider can do then.
  struct Row: Sendable, CustomTestStringConvertible {
    let profile: String
    let abilities: Set<ProviderAbility>

    init(_ profile: String, _ abilities: Set<ProviderAbility>) {
      self.profile = profile
      self.abilities = abilities
    }

    var testDescription: String { profile }
  }

  private static let rest = #"provider:"rest",baseUrl:"https://api.example.com""#
  private static let oidc = #"provider:"oidc",issuer:"https://op.example.com",clientId:"c""#
  /// An OpenID Connect provider whose metadata are not read.
  private static let plain = oidc + #",discovery:false,endpoints:{token:"https://op.example.com/token""#
  private static let everyEndpoint = Set(ProviderAbility.allCases).subtracting([
    .generateBackupCodes, .awaitLogin, .createProof,
  ])
  private static let user: Set<ProviderAbility> = [.getCurrentUser, .createProof, .awaitLogin]

  static let rows: [Row] =
    [
      Row(#"provider:"local""#, everyEndpoint.union([.generateBackupCodes])),
      Row(
        #"provider:"firebase",apiKey:{env:"KEY"}"#,
        [
          .register, .verifyEmail, .forgotPassword, .resetPassword, .getCurrentUser, .updateProfile, .changePassword,
          .deleteAccount,
        ]),
      Row(#"provider:"static",secret:{env:"KEY"}"#, []),
    ] + restRows + oidcRows

  private static let restRows: [Row] =
    [Row(rest, everyEndpoint)]
    + [
      ("login", nil), ("refresh", nil), ("logout", nil), ("verifyOtp", nil), ("register", .register),
      ("verifyEmail", .verifyEmail), ("forgotPassword", .forgotPassword), ("resetPassword", .resetPassword),
      ("currentUser", .getCurrentUser), ("updateProfile", .updateProfile), ("changePassword", .changePassword),
      ("deleteAccount", .deleteAccount), ("resendOtp", .resendOtp), ("verifyBackupCode", .verifyBackupCode),
    ].map { (endpoint: String, ability: ProviderAbility?) in
      Row(rest + ",mapping:{endpoints:{\(endpoint):null}}", everyEndpoint.subtracting(ability.map { [$0] } ?? []))
    } + [
      Row(rest + #",mapping:{resendStrategy:"none"}"#, everyEndpoint.subtracting([.resendOtp])),
      Row(rest + #",mapping:{resendStrategy:"restartLogin",endpoints:{resendOtp:null}}"#, everyEndpoint),
    ]

  private static let oidcRows: [Row] = [
    Row(oidc, user),
    Row(oidc + #",methods:["password","refreshToken"]"#, [.getCurrentUser, .createProof]),
    Row(oidc + #",dpop:true"#, user),
    Row(oidc + #",methods:["deviceCode"]"#, user),
    Row(oidc + #",methods:["browser"]"#, user),
    Row(oidc + #",methods:["clientCredentials"],clientSecret:{env:"SECRET"}"#, [.getCurrentUser, .createProof]),
    Row(plain + "}", [.createProof, .awaitLogin]),
    Row(plain + #"},methods:["password"]"#, [.createProof]),
    Row(plain + #",userinfo:"https://op.example.com/user"}"#, user),
    Row(#"provider:"keycloak",baseUrl:"https://op.example.com",realm:"acme",clientId:"c""#, user),
    Row(#"provider:"google",clientId:"c""#, user),
    Row(#"provider:"microsoft",clientId:"c""#, user),
    Row(#"provider:"github",clientId:"c""#, user),
    Row(#"provider:"gitlab",clientId:"c""#, user),
    Row(
      #"provider:"auth0",domain:"acme.auth0.com",clientId:"c""#,
      [.getCurrentUser, .createProof, .resendOtp, .verifyBackupCode, .awaitLogin]),
    Row(
      #"provider:"auth0",domain:"acme.auth0.com",clientId:"c",methods:["password"]"#,
      [.getCurrentUser, .createProof, .resendOtp, .verifyBackupCode]),
  ]

  /// Runs a test with the provider of a profile.
  private func withProvider(_ profile: String, _ body: (any AuthProvider) throws -> Void) async throws {
    let configuration = try BrokerConfiguration.parse(
      Array("{profiles:{work:{\(profile)}}}".utf8), file: "c", environment: [:])
    switch try #require(configuration.profiles.first).provider {
    case .local: try body(LocalProvider(stateDirectory: Scratch.parent, sealingKey: { nil }))
    case .remote(let remote):
      let client = try HTTPClient(version: "test", proxy: .none)
      let result = Result {
        try body(try remote.makeProvider(client: client) { _ in .failure(.unsupported) })
      }
      await client.close()
      try result.get()
    }
  }

  @Test(arguments: rows)
  func `a provider can do what its configuration says`(_ row: Row) async throws {
    try await withProvider(row.profile) { provider in
      #expect(provider.abilities == row.abilities)
      let capabilities = provider.capabilities
      #expect(!provider.loginMethods.contains(.deviceCode) || capabilities.deviceLogin != nil)
      #expect(!provider.loginMethods.contains(.browser) || capabilities.browserLogin != nil)
      #expect(!provider.loginMethods.contains(.clientCredentials) || capabilities.clientSessions != nil)
    }
  }

  /// What a profile says, and what a login to it needs.
  static let forms: [(profile: String, forms: [LoginForm])] = [
    (#"provider:"local""#, [LoginForm(.password)]),
    (#"provider:"firebase",apiKey:{env:"KEY"}"#, [LoginForm(.password), LoginForm(.refreshToken)]),
    (#"provider:"static",secret:{env:"KEY"}"#, []), (rest, [LoginForm(.password)]),
    (
      rest + ",mapping:{endpoints:{login:{fields:{email:null}}}}",
      [LoginForm(method: .password, fields: ["phoneNumber", "password"])]
    ),
    (rest + #",mapping:{endpoints:{login:{fields:{email:"user",phoneNumber:null}}}}"#, [LoginForm(.password)]),
    (oidc + #",methods:["browser","password"]"#, [LoginForm(.browser), LoginForm(.password)]),
  ]

  @Test(arguments: forms)
  func `a provider says what a login needs, in the order of its configuration`(
    _ profile: String, _ forms: [LoginForm]
  ) async throws {
    try await withProvider(profile) { provider in
      #expect(provider.loginForms == forms && provider.loginMethods == forms.map(\.method))
    }
  }

  @Test(arguments: ProviderType.all.map(\.name))
  func `what is listed of a type that no profile uses is what the least configuration of it can do`(
    _ name: String
  ) async throws {
    let type = try #require(ProviderType.all.first { $0.name == name })
    let row = Self.rows.first { $0.profile.hasPrefix(#"provider:"\#(name)""#) }
    // A preset that can do what most can has no row of its own. How users log in is known of a profile only.
    #expect(type.abilities == (row?.abilities ?? Self.user).subtracting([.awaitLogin]))
  }
}
