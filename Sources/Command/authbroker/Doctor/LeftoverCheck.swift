import LinuxSystem
import StateDirectory

/// Files that an interrupted change has left behind, or that wait for a decision.
enum LeftoverCheck: DoctorCheck {
  static let title = "Leftovers"

  static func findings(_ installation: Installation) -> [DoctorFinding] {
    let paths = installation.paths
    var findings = names(in: paths.state).compactMap { besideVault($0, in: paths.state) }
    if let key = installation.keyFile {
      let directory = PathName.directory(of: key)
      let name = String(key.dropFirst(directory.count).drop { $0 == "/" })
      findings += names(in: directory).compactMap { besideKey(name, $0, in: directory) }
    }
    return findings
  }

  private static func names(in directory: String) -> [String] {
    (try? TemporaryDirectory.names(in: directory)) ?? []
  }

  private static func besideVault(_ name: String, in directory: String) -> DoctorFinding? {
    guard name.hasPrefix("vault.sqlite.backup-") else { return nil }
    let shown = PlainText.line("\(directory)/\(name)".utf8)
    let message = "\(shown) is the vault before its tables were changed; once all is well, remove it"
    return DoctorFinding("leftovers.backup", "backup", .note, message, path: "\(directory)/\(name)")
  }

  private static func besideKey(_ key: String, _ name: String, in directory: String) -> DoctorFinding? {
    let shown = PlainText.line("\(directory)/\(name)".utf8)
    guard name.hasPrefix(key + "."), name != key + ".vaults" else { return nil }
    if name == key + ".previous" {
      let message = "\(shown) is the key from before a rekey; it is removed when the vault is next opened"
      return DoctorFinding("leftovers.previousKey", "previous key", .note, message, path: "\(directory)/\(name)")
    }
    guard name == key + ".next" else {
      let message = "\(shown) is a key that was never used: a start was interrupted; remove it"
      return DoctorFinding("leftovers.key", "unused key", .note, message, path: "\(directory)/\(name)")
    }
    let message = "\(shown) is the key of a rekey that was interrupted; the broker's next start finishes it"
    return DoctorFinding("leftovers.nextKey", "next key", .note, message, path: "\(directory)/\(name)")
  }
}
