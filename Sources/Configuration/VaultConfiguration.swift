/// How the vault is opened.
package struct VaultConfiguration: Sendable, Equatable {
  /// Where the vault's key comes from.
  package enum KeySource: String, Sendable, CaseIterable {
    /// A key file beside the user's data.
    case file
  }

  /// Where the key comes from.
  package var keySource: KeySource

  private static let keySourceSetting = ChoiceSetting(
    "keySource", standard: KeySource.file, later: ["passphrase", "credential", "command"])

  /// The defaults.
  init() {
    keySource = Self.keySourceSetting.standard
  }

  /// Reads the section, with the default of each setting that is absent.
  ///
  /// - Throws: ``ConfigurationError`` at the first wrong value or unknown key.
  init(_ section: inout ConfigurationSection) throws(ConfigurationError) {
    keySource = try section.read(Self.keySourceSetting)
    try section.refuseUnknownKeys()
  }
}
