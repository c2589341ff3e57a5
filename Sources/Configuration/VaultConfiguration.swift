package import BrokerProtocol

/// How the vault is opened.
package struct VaultConfiguration: Sendable, Equatable {
  /// Where the key of a new vault comes from, and of one that gets a new key.
  package var keySource: KeySourceName
  /// The absolute path of the key file; nil for the usual one.
  package var keyFile: String?
  /// Which of the service manager's credentials holds the secret.
  package var credential: String
  /// The program that prints the secret, and its arguments; empty where none is configured.
  package var command: [String]
  /// How long that program may take.
  package var commandTimeout: Duration

  private static let keySourceSetting = ChoiceSetting("keySource", standard: KeySourceName.file)
  private static let standardCredential = "authbroker-vault-key"
  /// NAME_MAX of Linux: a credential is a file (limits.h(0p)).
  private static let credentialByteLimit = 255
  /// 30 s are enough for a person to answer what the program asks; after ten minutes nobody is there.
  private static let commandTimeoutSetting = DurationSetting("commandTimeoutSeconds", 1...600, standard: 30)

  /// The defaults.
  init() {
    keySource = Self.keySourceSetting.standard
    keyFile = nil
    credential = Self.standardCredential
    command = []
    commandTimeout = .seconds(Self.commandTimeoutSetting.standard)
  }

  /// Reads the section, with the default of each setting that is absent.
  ///
  /// - Throws: ``ConfigurationError`` at the first wrong value or unknown key.
  init(_ section: inout ConfigurationSection) throws(ConfigurationError) {
    keySource = try section.read(Self.keySourceSetting)
    keyFile = try Self.keyFile(&section)
    credential = try Self.credential(&section)
    command = try Self.command(&section)
    commandTimeout = try section.read(Self.commandTimeoutSetting)
    guard keySource != .command || !command.isEmpty else {
      throw section.failure("command", "must be given with keySource \"command\": a program and its arguments")
    }
    try section.refuseUnknownKeys()
  }

  private static func keyFile(_ section: inout ConfigurationSection) throws(ConfigurationError) -> String? {
    guard let path = try section.text("keyFile") else { return nil }
    guard path.hasPrefix("/"), !path.hasSuffix("/"), !path.utf8.contains(0) else {
      throw section.failure("keyFile", "must be the absolute path of a file, such as \"${HOME}/keys/vault.key\"")
    }
    return path
  }

  private static func credential(_ section: inout ConfigurationSection) throws(ConfigurationError) -> String {
    guard let name = try section.text("credential") else { return standardCredential }
    let bytes = name.utf8
    guard let first = bytes.first, first != UInt8(ascii: "."), bytes.count <= credentialByteLimit,
      !bytes.contains(UInt8(ascii: "/")), !bytes.contains(0)
    else {
      throw section.failure(
        "credential",
        "must be the name of a credential: no '/', no '.' in front, at most \(credentialByteLimit) bytes")
    }
    return name
  }

  private static func command(_ section: inout ConfigurationSection) throws(ConfigurationError) -> [String] {
    guard let command = try section.texts("command") else { return [] }
    guard let program = command.first, !program.isEmpty, program.hasPrefix("/") || !program.contains("/"),
      !command.contains(where: { $0.utf8.contains(0) })
    else {
      throw section.failure("command", "must begin with a program: its name, or its absolute path")
    }
    return command
  }
}
