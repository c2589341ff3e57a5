import BrokerProtocol
import LinuxSystem
import StateDirectory

/// The facts that the checks judge: the environment, the files, and the broker's answers.
struct Installation: Sendable {
  /// The command line and the environment.
  let context: Context
  /// The paths of the files.
  let paths: StatePaths
  /// The answers of the owner of the state directory.
  var report = OwnerReport()
  /// The daemon's verdict on the configuration; nil where it was not asked yet.
  var verdict: ConfigurationVerdict?

  /// An installation whose owner was not asked yet.
  init(_ context: Context, _ paths: StatePaths) {
    self.context = context
    self.paths = paths
  }

  /// The daemon's verdict on the owner's configuration, or on the command line's where there is no owner.
  var usedVerdict: ConfigurationVerdict? {
    guard case .made(let owner?, _) = report.contact, let used = owner.configuration, used != paths.configuration
    else { return verdict }
    return ConfigurationVerdict(context, paths, usedBy: owner)
  }

  /// The path of the vault's key file by that configuration.
  var keyFile: String? { usedVerdict?.keyFile ?? paths.vaultKey }

  /// The key source of the vault; nil where it is unknown.
  var keySource: KeySourceName? {
    if let status = report.status { return KeySourceName(rawValue: status.vault.keySource) }
    // What the vault says counts, and the configuration only where there is none yet.
    return (try? FileStatus.ofLink(paths.vault)) == nil ? verdict?.keySource : nil
  }
}
