package import BrokerCore
package import BrokerProtocol
import JSONRPC

/// Everything that can be said in a configuration file, checked and with its defaults.
///
/// `Schemas/config.schema.json` describes the same for editors and for people.
package struct BrokerConfiguration: Sendable, Equatable {
  /// How much is logged.
  package enum LogLevel: String, Sendable, CaseIterable {
    case error, warning, info, debug
  }

  /// How much is logged.
  package var logLevel: LogLevel
  /// How the vault is opened.
  package var vault: VaultConfiguration
  /// What one peer can ask of the broker.
  package var limits: Limits
  /// How providers are reached.
  package var network: NetworkConfiguration
  /// How long an owner that was started on demand stays when nobody uses it.
  package var linger: Duration
  /// The profiles, in the order of the file; at least one.
  package var profiles: [ProfileConfiguration]
  /// How the embedded provider behaves.
  package var local: LocalProviderConfiguration

  /// The longest file that is read: thousands of profiles fit, a wrong path to something huge does not.
  package static let fileByteLimit = 1 << 20

  /// How deep a configuration is nested at most: seven levels are in use.
  private static let nestingLimit = 16

  /// 300 s spares the start for whoever comes back soon; a day is as good as for ever.
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
    local = LocalProviderConfiguration()
  }

  /// Reads the bytes of a file; `file` is what errors call it, `environment` what `${NAME}` is taken from.
  ///
  /// - Throws: ``ConfigurationError`` with the first thing that is wrong: nothing of the file is used then.
  package static func parse(
    _ bytes: [UInt8], file: String, environment: [String: String]
  ) throws(ConfigurationError) -> BrokerConfiguration {
    let text = try converted(bytes, file: file)
    let context = ConfigurationContext(file: file, text: text, environment: environment)
    let document: JSONDocument
    do throws(JSONError) {
      let limits = JSONLimits(depth: nestingLimit, byteCount: text.json.count)
      document = try JSONDocument(parsing: text.json, limits: limits)
    } catch { throw context.failure(error) }
    var root = try ConfigurationSection(document.root, path: "", context: context)
    return try BrokerConfiguration(&root)
  }

  private static func converted(_ bytes: [UInt8], file: String) throws(ConfigurationError) -> JSON5Text {
    do throws(JSON5Error) {
      guard bytes.count <= fileByteLimit else {
        throw JSON5Error("the file has more than \(fileByteLimit) bytes", at: 0)
      }
      return try JSON5Text(converting: bytes)
    } catch {
      let position = SourcePosition(ofByte: error.offset, in: bytes)
      throw ConfigurationError(file: file, position: position, key: "", message: error.message)
    }
  }

  private init(_ root: inout ConfigurationSection) throws(ConfigurationError) {
    // Editors find the schema of a file by this member.
    _ = try root.text("$schema")
    logLevel = try root.read(Self.logLevelSetting)
    var vaultSection = try root.section("vault")
    vault = try VaultConfiguration(&vaultSection)
    var limitsSection = try root.section("limits")
    limits = try Limits(&limitsSection)
    var networkSection = try root.section("network")
    network = try NetworkConfiguration(&networkSection)
    linger = try root.read(Self.lingerSetting)
    profiles = try Self.profiles(&root)
    var localSection = try root.section("local")
    local = try LocalProviderConfiguration(&localSection)
    try root.refuseUnknownKeys()
  }

  private static func profiles(
    _ root: inout ConfigurationSection
  ) throws(ConfigurationError) -> [ProfileConfiguration] {
    guard let node = root.value("profiles") else { return standard.profiles }
    let section = try ConfigurationSection(node, path: "profiles", context: root.context)
    var profiles: [ProfileConfiguration] = []
    for (key, value) in section.namedMembers() {
      guard let name = ProfileName(key) else {
        throw root.context.failure(
          atKeyOf: value, "profiles.\(key)",
          "is no profile name: a-z, 0-9, '.', '_' and '-', a letter or digit first, at most 64 characters")
      }
      var profile = try ConfigurationSection(value, path: "profiles.\(key)", context: root.context)
      profiles.append(try ProfileConfiguration(name: name, &profile))
    }
    guard !profiles.isEmpty else { throw root.context.failure(at: node, "profiles", "must name at least one profile") }
    return profiles
  }

  /// The profile with a name; nil where it is not configured.
  package subscript(_ name: ProfileName) -> ProfileConfiguration? {
    profiles.first { $0.name == name }
  }
}
