import LinuxSystem
import SQLite
import TestSupport
import Testing

/// A state directory that the programs of an earlier version have left.
struct EarlierState: CustomTestStringConvertible {
  /// The programs that made it, and the schema that their vaults have.
  enum Version: String, CaseIterable {
    case first = "0.1"
    case second = "0.2-fac204b6"

    var schema: Int64 { self == .first ? 3 : 4 }
  }

  let version: Version
  /// Where its vault's key comes from.
  let source: String

  static let all = Version.allCases.flatMap { version in
    ["file", "passphrase", "credential", "command"].map { EarlierState(version: version, source: $0) }
  }

  /// The password of its account, and what opens the vaults that have no key file.
  static let password = "not-a-real-password-0"
  static let secret = "not-a-real-passphrase\n"

  var testDescription: String { "\(version.rawValue), \(source)" }

  /// Where it is in the repository.
  private var folder: String { PathName.directory(of: #filePath) + "/Vaults/" + version.rawValue }

  /// Copies it to where a sandbox has its state directory; the arguments that choose its configuration.
  func copy(to sandbox: Sandbox) throws -> [String] {
    let provider = sandbox.state + "/local-provider"
    for path in [sandbox.state, provider, sandbox.root + "/credentials"] { try DirectoryEntry.makeDirectories(path) }
    for (from, to) in [(folder + "/" + source, sandbox.state), (folder + "/local-provider", provider)] {
      for name in Directory.names(in: from) {
        let bytes = try Directory.bytes(of: from + "/" + name)
        try FileDescriptor.open(to + "/" + name, [.write, .create, .exclusive]).writeAll(bytes.span)
      }
    }
    try prolongSessions(at: provider)
    for name in ["key", "credentials/authbroker-vault-key"] {
      try Directory.write(Self.secret, to: sandbox.root + "/" + name)
    }
    sandbox.environment["CREDENTIALS_DIRECTORY"] = sandbox.root + "/credentials"
    let text = String(decoding: try Directory.bytes(of: folder + "/config.json"), as: UTF8.self)
    return try sandbox.configure(
      text.replacing("@key@", with: sandbox.root + "/key").replacing("\"file\"", with: "\"\(source)\""))
  }

  /// Lets the sessions at the embedded provider live on from today: they were recorded for a year, the longest there is.
  private func prolongSessions(at provider: String) throws {
    // Its mark is that of the embedded provider: `ABLP`.
    let connection = try SQLiteConnection(path: provider + "/db.sqlite", applicationID: 0x4142_4C50)
    try connection.execute("UPDATE token_family SET expires_at = (unixepoch() + 86400) * 1000")
    if version != .first { try connection.execute("UPDATE token_family SET last_used_at = unixepoch() * 1000") }
    try connection.close()
  }
}
