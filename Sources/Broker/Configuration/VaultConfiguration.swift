package import BrokerCore
package import BrokerProtocol
import ConfigurationFile

/// The section `vault`: key source, anchor and locking.
package struct VaultConfiguration: Sendable, Equatable {
  /// The key source of a new vault, and of one that is re-encrypted.
  package var keySource: KeySourceName
  /// The absolute path of the key file; nil for the usual one.
  package var keyFile: String?
  /// The name of the service manager's credential that holds the secret.
  package var credential: String
  /// The program that prints the secret, and its arguments; empty where none is configured.
  package var command: [String]
  /// How long that program may take.
  package var commandTimeout: Duration
  /// When the vault is locked by itself.
  package var autoLock: AutoLockRules

  private static let keySourceSetting = ChoiceSetting("keySource", standard: KeySourceName.file)
  private static let standardCredential = "authbroker-vault-key"
  /// NAME_MAX of Linux: a credential is a file (limits.h(0p)).
  private static let credentialByteLimit = 255
  /// The time limit of the program: 30 s are enough for a person to answer it; after ten minutes the person is gone.
  private static let commandTimeoutSetting = DurationSetting("commandTimeoutSeconds", 1...600, standard: 30)
  /// Zero is for never; a year is as good.
  private static let idleSetting = DurationSetting("lockAfterIdleSeconds", 0...31_536_000, standard: 0)

  /// The defaults.
  init() {
    keySource = Self.keySourceSetting.standard
    keyFile = nil
    credential = Self.standardCredential
    command = []
    autoLock = AutoLockRules()
    commandTimeout = .seconds(Self.commandTimeoutSetting.standard)
  }

  /// Reads the section, with the default of each setting that is absent.
  init(_ section: inout ConfigurationSection) {
    keySource = section.read(Self.keySourceSetting)
    keyFile = section.filePath("keyFile")
    credential = Self.credential(&section)
    command = section.program("command") ?? []
    commandTimeout = section.read(Self.commandTimeoutSetting)
    autoLock = AutoLockRules(
      idleTimeout: section.read(Self.idleSetting), locksOnSuspend: section.flag("lockOnSuspend", standard: false))
    if keySource == .command { section.require("command", #"write command: ["PROGRAM", "ARGUMENT"]"#) }
    section.finish()
  }

  /// Whether the vault is opened in the same way: other changes take effect without a restart.
  package func opensAsDoes(_ other: VaultConfiguration) -> Bool {
    var copy = other
    copy.autoLock = autoLock
    return self == copy
  }

  private static func credential(_ section: inout ConfigurationSection) -> String {
    guard let name = section.string("credential") else { return standardCredential }
    let bytes = name.utf8
    if let first = bytes.first, first != UInt8(ascii: "."), bytes.count <= credentialByteLimit,
      !bytes.contains(UInt8(ascii: "/")), !bytes.contains(0)
    {
      return name
    }
    section.report(
      "credential", "must be the name of a credential: no '/', no '.' in front, at most \(credentialByteLimit) bytes")
    return standardCredential
  }
}
