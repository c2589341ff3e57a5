import LinuxSystem
import StateDirectory

/// The command line of the daemon.
struct DaemonArguments: Equatable {
  /// The mode of the daemon.
  enum Mode: Equatable {
    /// The owner in the foreground, or in the background for the client that started it on demand.
    case owner(isOnDemand: Bool)
    /// The owner on standard input and output, for as long as those last.
    case privateOwner
    /// Read the configuration, say what is wrong with it, and end.
    case checkConfiguration
    /// Show the configuration without what is its owner's, and end.
    case outlineConfiguration
    /// Say which providers a profile can name and what each needs, and end.
    case listProviders
    /// Say which authorization servers a protected resource names, and end.
    case describeResource(String)
    /// Print the document about the client that its owner publishes at an address, and end.
    case describeClient(String)
    /// Do something about the fleet, and end.
    case fleet(FleetTask.Kind)
    /// Say something about the program, and end.
    case version, help
  }

  /// Why a command line is not valid.
  struct Misuse: Error, Equatable {
    /// One sentence.
    let message: String
  }

  /// The mode.
  var mode = Mode.owner(isOnDemand: false)
  /// The paths of the files.
  var options = StatePaths.Options()
  /// The group that may change what decides, beside those of the environment; nil for none.
  var trustedGroup: String?
  /// The path of a new key of a fleet; nil where none is to be made.
  var newKey: String?
  /// Whether a file that cannot be brought back may be removed.
  var isConfirmed = false
  /// Whether the output is to be JSON.
  var wantsJSON = false
  /// The descriptor on which to report that the broker is ready, or why it is not.
  var readyDescriptor: Int32?

  /// The text of `--help`.
  static let usage = """
    usage: authbrokerd [--state DIR] [--socket PATH] [--config FILE] [--trust-group GROUP] [--stdio | --json]
           authbrokerd --check-config [--config FILE] [--json]
           authbrokerd --outline-config [--config FILE]
           authbrokerd --list-providers
           authbrokerd --describe-resource URL [--config FILE]
           authbrokerd --describe-client URL
           authbrokerd --fleet-init [--new-key FILE] | --fleet-status [--config FILE] [--json]
           authbrokerd --fleet-rekey [--new-key FILE] | --fleet-leave [--yes] [--state DIR] [--config FILE] [--json]
    People start it with `authbroker serve`, or not at all: `authbroker token` starts it on demand.

    """

  /// Reads the arguments behind the program's name.
  init(_ arguments: [String]) throws(Misuse) {
    var rest = arguments[...]
    while let argument = rest.popFirst() {
      switch argument {
      case "--state": options.state = try Self.value(argument, &rest)
      case "--socket": options.socket = try Self.value(argument, &rest)
      case "--config": options.configuration = try Self.value(argument, &rest)
      case "--trust-group": trustedGroup = try Self.value(argument, &rest)
      case "--stdio": mode = .privateOwner
      case "--on-demand": mode = .owner(isOnDemand: true)
      case "--ready-fd": readyDescriptor = try Self.descriptor(argument, &rest)
      case "--check-config": mode = .checkConfiguration
      case "--outline-config": mode = .outlineConfiguration
      case "--list-providers": mode = .listProviders
      case "--describe-resource": mode = .describeResource(try Self.value(argument, &rest))
      case "--describe-client": mode = .describeClient(try Self.value(argument, &rest))
      case "--fleet-init": mode = .fleet(.prepare)
      case "--fleet-status": mode = .fleet(.show)
      case "--fleet-rekey": mode = .fleet(.rekey)
      case "--fleet-leave": mode = .fleet(.leave)
      case "--yes": isConfirmed = true
      case "--new-key": newKey = try Self.value(argument, &rest)
      case "--json": wantsJSON = true
      case "--version": mode = .version
      case "--help", "-h": mode = .help
      default:
        // An argument is not repeated: it may be a secret.
        let isOption = argument.hasPrefix("-")
        throw Misuse(message: isOption ? "unknown option \(PlainText.line(argument.utf8))" : "unexpected argument")
      }
    }
  }

  private static func value(_ option: String, _ rest: inout ArraySlice<String>) throws(Misuse) -> String {
    guard let value = rest.popFirst(), !value.isEmpty else { throw Misuse(message: "\(option) needs a value") }
    return value
  }

  private static func descriptor(_ option: String, _ rest: inout ArraySlice<String>) throws(Misuse) -> Int32 {
    guard let number = Int32(try value(option, &rest)), number > 2 else {
      throw Misuse(message: "\(option) needs the number of an open descriptor above 2")
    }
    return number
  }
}

extension StatePaths {
  /// The paths that the options and the environment of a daemon name.
  init(_ arguments: DaemonArguments, _ environment: [String: String]) throws(StartFailure) {
    do throws(Refusal) {
      try self.init(
        arguments.options, environment: EnvironmentVariables(environment),
        workingDirectory: ProcessIdentity.workingDirectory)
    } catch { throw StartFailure(kind: .failed, message: error.description) }
  }
}
