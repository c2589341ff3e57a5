package import BrokerCore
package import BrokerProtocol
import ConfigurationFile
import JSON
package import ProviderKit

/// One profile: its provider, and the rules for its tokens.
package struct ProfileConfiguration: Sendable, Equatable {
  /// The provider of a profile, by its type.
  package enum Provider: Sendable {
    /// The embedded provider; its settings are those of the section `local`.
    case local
    /// A provider behind HTTP, as its own module reads it.
    case remote(any RemoteConfiguration)
  }

  /// The profile's name.
  package var name: ProfileName
  /// The provider.
  package var provider: Provider
  /// When its tokens are good enough, and how its sessions are kept.
  package var rules: SessionRules
  /// Whether clients may have the session's ID token, which tells more of the user than an access token.
  package var allowIDToken: Bool
  /// Whether the brokers of the fleet share its session.
  package var isShared: Bool
  /// The rules for requests of clients with its token; nil for none.
  package var requests: RequestRules?

  /// The margin before expiry: below 15 s tokens would expire on their way; above an hour most tokens would be
  /// refreshed at each call.
  private static let refreshSkewSetting = DurationSetting("refreshSkewSeconds", 15...3600, standard: 30)

  private static let rotationSetting = ChoiceSetting("rotation", standard: Rotation.auto)
  /// Providers that have a grace count it in seconds, or a few minutes; an hour is none.
  private static let rotationGraceSetting = DurationSetting("rotationGraceSeconds", 0...3600, standard: 0)
  /// A year is longer than any session that its user still remembers.
  private static let idleTimeoutSetting = DurationSetting("idleTimeoutSeconds", 0...31_536_000, standard: 0)

  /// Over a holiday, by default; a year as above; zero switches refreshes of unused sessions off.
  private static let keepAliveSetting = DurationSetting("keepAliveSeconds", 0...31_536_000, standard: 2_592_000)

  /// A day, so that a login finds its place in a working day; 90 days are longer than most sessions.
  private static let warnBeforeEndSetting = DurationSetting("warnBeforeEndSeconds", 0...7_776_000, standard: 86_400)

  /// A profile on the embedded provider, everything else by default.
  init(name: ProfileName) {
    var section = ConfigurationContext().blankSection("")
    self.init(name: name, provider: .local, hasSessions: true, &section)
  }

  /// Reads a profile's section, with the default of each setting that is absent; nil where its provider is missing or
  /// faulty.
  init?(name: ProfileName, _ section: inout ConfigurationSection) {
    let provider = Self.provider(&section)
    let type = section.node(at: "provider").flatMap { try? $0.string() }.flatMap { ProviderType.named($0) }
    // The other settings are read all the same, so that their mistakes are found.
    self.init(name: name, provider: provider ?? .local, hasSessions: type?.hasSessions ?? true, &section)
    section.finish(aliases: Self.aliases)
    if provider == nil { return nil }
  }

  /// Reads the settings that every profile has that has sessions, whatever its provider is.
  private init(name: ProfileName, provider: Provider, hasSessions: Bool, _ section: inout ConfigurationSection) {
    self.name = name
    self.provider = provider
    requests = RequestRules(&section)
    guard hasSessions else {
      (rules, allowIDToken, isShared) = (SessionRules(), false, false)
      return
    }
    let expiry = ExpiryPolicy(
      skew: section.read(Self.refreshSkewSetting),
      refreshesInBackground: section.flag("backgroundRefresh", standard: true))
    rules = SessionRules(
      expiry: expiry, rotation: section.read(Self.rotationSetting),
      rotationGrace: section.read(Self.rotationGraceSetting), idleTimeout: section.read(Self.idleTimeoutSetting),
      keepAlive: section.read(Self.keepAliveSetting), warnBeforeEnd: section.read(Self.warnBeforeEndSetting))
    let habit = section.read(ChoiceSetting("revocation", standard: RevocationHabit.token))
    if section.has("revocation") { rules.revocation = habit }
    allowIDToken = section.flag("allowIdToken", standard: false)
    isShared = section.flag("shared", standard: false)
  }

  /// Other programs' names for a profile's keys.
  private static let aliases = [
    "type": "provider", "preset": "provider", "url": "baseUrl", "server": "baseUrl", "secret": "clientSecret",
    "client": "clientId", "id": "clientId", "callback": "redirectUri", "flows": "methods", "grants": "methods",
  ]
  /// Other programs' names for the provider types.
  private static let typeAliases = [
    "azure": "microsoft", "azuread": "microsoft", "entra": "microsoft", "openid": "oidc", "openidconnect": "oidc",
    "oauth": "oidc", "oauth2": "oidc", "okta": "oidc", "http": "rest", "embedded": "local",
  ]

  /// The provider; nil where it is missing, unknown or faulty.
  private static func provider(_ section: inout ConfigurationSection) -> Provider? {
    section.require(
      "provider",
      #"write provider: "local", or one of: \#(ProviderType.all.map(\.name).joined(separator: ", "))"#)
    if let type = section.string("provider", takesAny: false) {
      if let known = ProviderType.named(type) { return known.read(&section) }
      let types = ProviderType.all.map(\.name)
      let nearest = Spelling.nearest(to: type, among: types) ?? typeAliases[type.lowercased()]
      section.report(
        "provider", "unknown provider" + section.quoted("provider"),
        nearest.map { "did you mean \"\($0)\"?" } ?? "use one of: \(types.joined(separator: ", "))")
    }
    // Which keys it may have cannot be told, so each is let be that some provider knows.
    for key in BrokerConfiguration.knownKeys[BrokerConfiguration.profilePattern] { section.note(key) }
    return nil
  }

  /// The keys of a profile on a type of provider.
  static func knownKeys(of type: ProviderType) -> KnownKeys {
    let context = ConfigurationContext()
    var section = context.blankSection(BrokerConfiguration.profilePattern)
    section.note("provider")
    let provider = type.read(&section)
    _ = ProfileConfiguration(
      name: .default, provider: provider ?? .local, hasSessions: type.hasSessions, &section)
    return context.keys
  }
}

extension ProfileConfiguration.Provider: Equatable {
  /// The name of the provider's type.
  package var type: String {
    switch self {
    case .local: "local"
    case .remote(let configuration): configuration.type
    }
  }

  package static func == (left: Self, right: Self) -> Bool {
    switch (left, right) {
    case (.local, .local): true
    case (.remote(let left), .remote(let right)): left.isSame(as: right)
    case (.local, .remote), (.remote, .local): false
    }
  }
}
