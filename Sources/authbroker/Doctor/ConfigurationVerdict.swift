import BrokerProtocol
import ClientSocket
import JSON
import LinuxSystem

/// What the daemon makes of a configuration.
struct ConfigurationVerdict: Sendable {
  /// The run that said so, or why there was none.
  let report: Result<DaemonProgram.Report, Errno>
  /// The file that was read; nil: the built-in configuration.
  private(set) var file: String?
  /// The names of the profiles; empty where the configuration is not valid.
  private(set) var profiles: [String] = []
  /// Where the key of a new vault would come from; nil where the configuration is not valid.
  private(set) var keySource: KeySourceName?
  /// Where the key file is, or would be.
  private(set) var keyFile: String?

  /// Asks the daemon about the configuration that an owner was started with, as it reads now.
  init(_ context: Context, _ paths: StatePaths, usedBy owner: OwnerRecord) {
    let isUsual = owner.configuration == nil || owner.configuration == paths.configuration
    self.init(context, paths, of: isUsual ? nil : owner.configuration)
  }

  /// Asks the daemon.
  ///
  /// - Parameters:
  ///   - context: the command line and the environment.
  ///   - paths: of the state directory.
  ///   - file: a configuration other than that of the command line.
  init(_ context: Context, _ paths: StatePaths, of file: String? = nil) {
    let arguments = ["--check-config", "--json"] + (file.map { ["--config", $0] } ?? [])
    report = Result { () throws(Errno) in try DaemonProgram.report(context, paths, arguments) }
    guard case .success(let said) = report, said.code == 0,
      let root = try? JSONDocument(parsing: Array(said.text.utf8)).root
    else { return }
    self.file = try? root["configuration"]?.string()
    profiles = (try? root["profiles"]?.elements().map { try $0.string() }) ?? []
    keySource = (try? root["keySource"]?.string()).flatMap(KeySourceName.init(rawValue:))
    keyFile = try? root["keyFile"]?.string()
  }
}
