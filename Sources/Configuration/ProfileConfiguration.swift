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
  ///
  /// - Throws: ``ConfigurationError`` at the first wrong value or unknown key.
  init(name: ProfileName, _ section: inout ConfigurationSection) throws(ConfigurationError) {
    self.name = name
    provider = try Self.provider(&section)
    refreshSkew = try section.read(Self.refreshSkewSetting)
    backgroundRefresh = try section.flag("backgroundRefresh", standard: true)
    rotation = try section.read(Self.rotationSetting)
    rotationGrace = try section.read(Self.rotationGraceSetting)
    idleTimeout = try section.read(Self.idleTimeoutSetting)
    allowIDToken = try section.flag("allowIdToken", standard: false)
    try section.refuseUnknownKeys()
  }

  private static func provider(_ section: inout ConfigurationSection) throws(ConfigurationError) -> Provider {
    let types = providerTypes.joined(separator: ", ")
    guard let text = try section.text("provider") else {
      throw section.failure("provider", "must be given: this version has the providers: \(types)")
    }
    switch text {
    case "local": return .local
    case "rest": return .rest(try RESTProfileConfiguration(&section))
    case "firebase": return .firebase(try FirebaseProfileConfiguration(&section))
    default:
      guard let preset = OIDCPreset(rawValue: text) else {
        throw section.failure("provider", "is unknown: this version has the providers: \(types)")
      }
      return .oidc(try OIDCProfileConfiguration(preset, &section))
    }
  }
}
