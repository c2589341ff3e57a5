import BrokerProtocol
import LinuxSystem
import StateDirectory

/// The vault's key file: where it is by the configuration, and whether the vault needs it at all.
extension FilesCheck {
  /// The rows about the vault's key file.
  static func key(_ installation: Installation) -> [DoctorFinding] {
    guard let path = installation.keyFile else { return [] }
    let isMissing = Self.isMissing(path)
    if let source = installation.keySource, source != .file {
      guard !isMissing else { return [] }
      let message =
        "\(PlainText.line(path.utf8)) is not used by this vault, whose key comes from another source (\(source.rawValue))"
      return [DoctorFinding("files.key", "key file", .note, message, path: path)]
    }
    guard !isMissing || !isNeeded(installation) else { return [lost(path, installation)] }
    let hasVault = !Self.isMissing(installation.paths.vault)
    if isMissing, hasVault, let finding = perhapsLost(path, installation) { return [finding] }
    let missing = hasVault ? "none; right unless the key comes from a file" : "none yet; the first start makes one"
    return key(path, besideVault: PathName.directory(of: installation.paths.vault), missing: missing)
  }

  /// Whether a vault is there whose key comes from a file.
  private static func isNeeded(_ installation: Installation) -> Bool {
    guard let vault = installation.report.status?.vault else { return false }
    return vault.isInitialized && vault.keySource == KeySourceName.file.rawValue
  }

  /// A key file that is gone while its broker still runs, which may have the key in memory.
  private static func lost(_ path: String, _ installation: Installation) -> DoctorFinding {
    let isOpen = installation.report.status?.vault.locked == false
    let shown = PlainText.line(path.utf8)
    let message = "\(shown) is not there, and without it the vault cannot be opened again; put it back"
    let next = NextCommand("or, while this broker runs, make a new one with", "rekey")
    return DoctorFinding("files.key", "key file", .error, message, next: isOpen ? next : nil, path: path).aboutVault()
  }

  /// A key file that is gone while a vault is there and no broker says where its key comes from: the configuration does.
  private static func perhapsLost(_ path: String, _ installation: Installation) -> DoctorFinding? {
    guard installation.report.status == nil, installation.usedVerdict?.keySource == .file else { return nil }
    let message =
      "\(PlainText.line(path.utf8)) is not there, and by the configuration (vault.keySource: \"file\") the vault cannot be"
      + " opened without it; put it back, or set keySource to where the key comes from"
    // A broker that was to be started and did not is the proof of it.
    guard case .failed = installation.report.contact else {
      return DoctorFinding("files.key", "key file", .warning, message, path: path)
    }
    return DoctorFinding("files.key", "key file", .error, message, path: path).aboutVault()
  }

  private static func key(_ path: String, besideVault state: String, missing: String) -> [DoctorFinding] {
    let place = PathName.directory(of: path)
    // A key may be read-only.
    var findings = [secret("files.key", "key file", path, needing: 0o400, missing: missing)]
    guard place != state else {
      guard findings[0].status == .ok else { return findings }
      let message = "it is beside the vault, so a copy of the state directory is enough to read the tokens"
      return findings + [DoctorFinding("files.keyPlace", "key file", .note, message, path: path)]
    }
    let directory = directory("files.keyDirectory", "key directory", place)
    if directory.status == .error { findings.insert(directory.aboutVault(), at: 0) }
    return findings
  }
}
