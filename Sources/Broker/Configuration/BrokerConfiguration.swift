package import BrokerCore
package import BrokerProtocol
package import ConfigurationFile
package import Hooks
import JSON
package import LocalProvider

/// The settings of a configuration file, checked and with their defaults.
///
/// `Schemas/config.schema.json` describes the same for editors and for people.
package struct BrokerConfiguration: Sendable, Equatable {
  /// How much is logged.
  package enum LogLevel: String, Sendable, CaseIterable {
    case error, warning, info, debug
  }

  /// How much is logged.
  package var logLevel: LogLevel
  /// The settings of the vault.
  package var vault: VaultConfiguration
  /// The limits for clients.
  package var limits: Limits
  /// The network settings of providers.
  package var network: NetworkConfiguration
  /// How long an owner that was started on demand stays when no client uses it.
  package var linger: Duration
  /// The profiles, in the order of the file; at least one.
  package var profiles: [ProfileConfiguration]
  /// The servers, each with the profile whose token it gets.
  package var targets: TargetMap
  /// The programs that are run for events.
  package var hooks: [Hook]
  /// The rules for clients; nil where every client of the owner may have everything.
  package var access: [AccessRule]?
  /// Whether grants and refusals are audited where there are rules or limited sockets.
  package var audit: Bool
  /// The way in which the owner is asked where a rule says so.
  package var consent: ConsentConfiguration
  /// The limited sockets.
  package var sockets: [LimitedSocket]
  /// The database in which the brokers of a fleet share sessions; nil for none.
  package var store: StoreConfiguration?
  /// The settings of the embedded provider.
  package var local: LocalProviderConfiguration
  /// The keys that stand in the file, are obeyed, and will be none in the next version.
  package private(set) var outdatedKeys: [String] = []

  /// 300 s spares the start for clients that come back soon; a day is as good as for ever.
  private static let lingerSetting = DurationSetting("lingerSeconds", 0...86400, standard: 300)

  private static let logLevelSetting = ChoiceSetting("logLevel", standard: LogLevel.info)

  /// The configuration of a broker that has no file: one profile `default` on the embedded provider.
  package static let standard = BrokerConfiguration()

  private init() {
    logLevel = Self.logLevelSetting.standard
    vault = VaultConfiguration()
    limits = Limits()
    network = NetworkConfiguration()
    linger = .seconds(Self.lingerSetting.standard)
    profiles = [ProfileConfiguration(name: .default)]
    targets = TargetMap()
    hooks = []
    (access, audit, consent, sockets) = (nil, Self.auditStandard, ConsentConfiguration(), [])
    local = LocalProviderConfiguration()
  }

  /// Reads the bytes of a file.
  ///
  /// - Parameters:
  ///   - bytes: what stands in the file.
  ///   - file: what errors call it.
  ///   - environment: what `${NAME}` is taken from.
  ///   - examine: says what is wrong with a file of trusted authorities that is named, if that is to be looked at.
  /// - Returns: what it says.
  /// - Throws: ``ConfigurationError`` with every mistake: nothing of the file is used then.
  package static func parse(
    _ bytes: [UInt8], file: String, environment: [String: String], examine: @escaping (String) -> String? = { _ in nil }
  ) throws(ConfigurationError) -> BrokerConfiguration {
    try ConfigurationDocument.read(
      bytes, file: file, environment: environment, examine: examine, keys: knownKeys
    ) { root in BrokerConfiguration(&root) }
  }

  private init(_ root: inout ConfigurationSection) {
    // Editors find the schema of a file by this member.
    _ = root.string("$schema")
    logLevel = root.read(Self.logLevelSetting)
    var vaultSection = root.section("vault")
    vault = VaultConfiguration(&vaultSection)
    var limitsSection = root.section("limits")
    limits = Limits(&limitsSection, outdated: &outdatedKeys)
    var networkSection = root.section("network")
    network = NetworkConfiguration(&networkSection)
    linger = root.read(Self.lingerSetting)
    profiles = Self.profiles(&root)
    Self.checkSubjects(profiles, root)
    store = Self.store(&root, profiles)
    targets = Self.targets(&root)
    hooks = Self.hooks(&root)
    sockets = Self.sockets(&root)
    (access, audit, consent) = Self.rules(&root)
    var localSection = root.section("local")
    local = LocalProviderConfiguration(&localSection)
    Self.findProfilesAtTop(&root)
    root.finish()
  }

  /// Reports sections outside of `profiles` that look like profiles.
  private static func findProfilesAtTop(_ root: inout ConfigurationSection) {
    for (key, value) in root.members(having: "provider") where !knownKeys[""].contains(key) {
      root.note(key)
      root.report(nameOf: value, key, "is not a key of the configuration", "it belongs in profiles")
    }
  }

  /// The most different sections of profiles that are remembered, so that equal ones are parsed once.
  ///
  /// Further ones are parsed each time: of many profiles most are equal, and few different ones take no time.
  private static let knownSectionLimit = 256

  private static func profiles(_ root: inout ConfigurationSection) -> [ProfileConfiguration] {
    guard root.has("profiles") else {
      root.note("profiles")
      return standard.profiles
    }
    let section = root.section("profiles")
    let members = section.namedMembers()
    var profiles: [ProfileConfiguration] = []
    profiles.reserveCapacity(members.count)
    // What was read of the sections so far, by their text. Nothing of it depends on the profile's name.
    var known: [ArraySlice<UInt8>: ProfileConfiguration] = [:]
    for (key, value) in members {
      if var same = known[value.text], let name = ProfileName(key) {
        same.name = name
        profiles.append(same)
        continue
      }
      var profile = section.section(key, at: value, placeholder: "NAME")
      guard let name = ProfileName(key) else {
        section.report(
          nameOf: value, key, "is not a profile name",
          "use a-z, 0-9, '.', '_' and '-', a letter or digit first, at most 64 characters")
        continue
      }
      guard let profile = ProfileConfiguration(name: name, &profile) else { continue }
      profiles.append(profile)
      // One with a mistake is read again, so that each of its mistakes is told.
      if !section.context.hasMistakes, known.count < knownSectionLimit { known[value.text] = profile }
    }
    if members.isEmpty, section.isEmpty {
      root.report("profiles", "must name at least one profile", #"write default: {provider: "local"}"#)
    }
    return profiles
  }

  /// A profile's section, with `NAME` for its name.
  static let profilePattern = "profiles.NAME"

  /// Every key that can stand in a configuration, with the sections and types of provider that know it.
  package static let knownKeys: KnownKeys = {
    let context = ConfigurationContext()
    var root = context.blankSection("")
    _ = BrokerConfiguration(&root)
    var keys = context.keys
    for type in ProviderType.all { keys.add(ProfileConfiguration.knownKeys(of: type), of: type.name) }
    return keys
  }()

  /// The profile with a name; nil where it is not configured.
  package subscript(_ name: ProfileName) -> ProfileConfiguration? {
    profiles.first { $0.name == name }
  }
}
