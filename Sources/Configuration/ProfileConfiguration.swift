package import BrokerCore
package import BrokerProtocol
import OIDCDialect

/// One profile: who logs it in, and when its tokens are good enough.
package struct ProfileConfiguration: Sendable, Equatable {
  /// The types of provider that this version has, with what each needs to know.
  package enum Provider: Sendable, Equatable {
    /// The embedded provider; its settings are those of the section `local`.
    case local
    /// A REST backend.
    case rest(RESTProfileConfiguration)
    /// An OpenID Connect provider.
    case oidc(OIDCProfileConfiguration)
    /// A Firebase project.
    case firebase(FirebaseProfileConfiguration)

    /// The name in the configuration, in sessions and in capabilities.
    package var type: String {
      switch self {
      case .local: "local"
      case .rest: "rest"
      case .oidc(let configuration): configuration.dialect.type
      case .firebase: "firebase"
      }
    }
  }

  /// The names of all types of provider, as capabilities list them.
  package static let providerTypes = ["local", "rest"] + OIDCPreset.allCases.map(\.rawValue) + ["firebase"]

  /// The profile's name.
  package var name: ProfileName
  /// Who logs it in.
  package var provider: Provider
  /// How long a token must still live to be handed out.
  package var refreshSkew: Duration
  /// Whether tokens are refreshed before anybody asks.
  package var backgroundRefresh: Bool

  /// Whether the provider rotates refresh tokens.
  package var rotation: Rotation
  /// For how long after it was sent a spent refresh token is taken once more.
  package var rotationGrace: Duration
  /// A session that no client has used for so long ends; zero where none does.
  package var idleTimeout: Duration
  /// Whether clients may have the session's ID token, which tells more of the user than an access token.
  package var allowIDToken: Bool

  /// Below 15 s tokens would end on their way; above an hour most tokens would be refreshed at each call.
  private static let refreshSkewSetting = DurationSetting("refreshSkewSeconds", 15...3600, standard: 30)

  private static let rotationSetting = ChoiceSetting("rotation", standard: Rotation.auto)
  /// Providers that have a grace count it in seconds, or a few minutes; an hour is none.
  private static let rotationGraceSetting = DurationSetting("rotationGraceSeconds", 0...3600, standard: 0)
  /// A year is longer than any session that somebody still remembers.
  private static let idleTimeoutSetting = DurationSetting("idleTimeoutSeconds", 0...31_536_000, standard: 0)

  /// A profile on the embedded provider, everything else by default.
  init(name: ProfileName) {
    self.name = name
    provider = .local
    refreshSkew = .seconds(Self.refreshSkewSetting.standard)
    backgroundRefresh = true
    rotation = Self.rotationSetting.standard
    rotationGrace = .seconds(Self.rotationGraceSetting.standard)
    idleTimeout = .seconds(Self.idleTimeoutSetting.standard)
    allowIDToken = false
  }

  /// Reads a profile's section, with the default of each setting that is absent; the provider must be given.
  init(name: ProfileName, _ section: inout ConfigurationSection) {
    self.name = name
    provider = Self.provider(&section) ?? .local
    refreshSkew = section.read(Self.refreshSkewSetting)
    backgroundRefresh = section.flag("backgroundRefresh", standard: true)
    rotation = section.read(Self.rotationSetting)
    rotationGrace = section.read(Self.rotationGraceSetting)
    idleTimeout = section.read(Self.idleTimeoutSetting)
    allowIDToken = section.flag("allowIdToken", standard: false)
    section.finish(aliases: Self.aliases)
  }

  /// What other programs call a profile's keys.
  private static let aliases = [
    "type": "provider", "preset": "provider", "url": "baseUrl", "server": "baseUrl", "secret": "clientSecret",
    "client": "clientId", "id": "clientId", "callback": "redirectUri", "flows": "methods", "grants": "methods",
  ]
  /// What other programs call the types of provider.
  private static let typeAliases = [
    "azure": "microsoft", "azuread": "microsoft", "entra": "microsoft", "openid": "oidc", "openidconnect": "oidc",
    "oauth": "oidc", "oauth2": "oidc", "okta": "oidc", "http": "rest", "embedded": "local",
  ]

  /// The provider; nil where it is missing, unknown or faulty.
  private static func provider(_ section: inout ConfigurationSection) -> Provider? {
    section.require("provider", #"write provider: "local", or one of: \#(providerTypes.joined(separator: ", "))"#)
    if let type = section.string("provider") {
      if providerTypes.contains(type) { return provider(type, &section) }
      let nearest = Spelling.nearest(to: type, among: providerTypes) ?? typeAliases[type.lowercased()]
      section.report(
        "provider", "unknown provider" + section.quoted("provider"),
        nearest.map { "did you mean \"\($0)\"?" } ?? "use one of: \(providerTypes.joined(separator: ", "))")
    }
    // Which keys it may have cannot be told, so each is let be that some provider knows.
    for key in BrokerConfiguration.knownKeys[BrokerConfiguration.profilePattern] { section.note(key) }
    return nil
  }

  /// Reads what a profile says of a provider of a known type.
  private static func provider(_ type: String, _ section: inout ConfigurationSection) -> Provider? {
    switch type {
    case "local": .local
    case "rest": RESTProfileConfiguration(&section).map { .rest($0) }
    case "firebase": FirebaseProfileConfiguration(&section).map { .firebase($0) }
    default: OIDCPreset(rawValue: type).flatMap { OIDCProfileConfiguration($0, &section) }.map { .oidc($0) }
    }
  }

  /// The keys of a profile on each type of provider.
  static func knownKeys(of type: String) -> KnownKeys {
    let context = ConfigurationContext()
    var section = context.blankSection(BrokerConfiguration.profilePattern)
    _ = provider(type, &section)
    return context.keys
  }
}
