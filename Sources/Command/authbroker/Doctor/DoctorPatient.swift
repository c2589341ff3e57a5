import BrokerProtocol
import LinuxSystem
import StateDirectory

/// What the checks look at: the environment, the files, and what the broker answered.
struct DoctorPatient: Sendable {
  /// The command line and the environment.
  let context: Context
  /// Where the files are.
  let paths: StatePaths
  /// What the owner of the state directory says.
  var interview = OwnerInterview()
  /// What the daemon makes of the configuration; nil: it was not asked yet.
  var verdict: ConfigurationVerdict?

  /// A patient whose owner was not asked yet.
  init(_ context: Context, _ paths: StatePaths) {
    self.context = context
    self.paths = paths
  }

  /// What the daemon makes of the configuration of the owner, or of the command line where there is none.
  var usedVerdict: ConfigurationVerdict? {
    guard case .made(let owner?, _) = interview.contact, let used = owner.configuration, used != paths.configuration
    else { return verdict }
    return ConfigurationVerdict(context, paths, usedBy: owner)
  }

  /// Where the vault's key file is by that configuration.
  var keyFile: String? { usedVerdict?.keyFile ?? paths.vaultKey }

  /// Where the key of the vault comes from; nil: it is not known.
  var keySource: KeySourceName? {
    if let status = interview.status { return KeySourceName(rawValue: status.vault.keySource) }
    // What the vault says counts, and the configuration only where there is none yet.
    return (try? FileStatus.ofLink(paths.vault)) == nil ? verdict?.keySource : nil
  }
}
