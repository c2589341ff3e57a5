import AuthBrokerClient
import BrokerProtocol
import ClientSocket
import JSON
import LinuxSystem
import StateDirectory

/// `authbroker complete`, which the completions of shells call.
///
/// It starts no broker, and says nothing where something is wrong: a person is typing.
enum CompleteCommand: Command {
  static let name = "complete"
  static let about = CommandDescription(
    operands: "[WORD...]",
    summary: "Print what the last of some words can become",
    details: """
      For the completions of shells (see `authbroker help completion`). Each candidate is a line, with its meaning behind
      a tab; a line `:files` or `:directories` alone asks the shell for those.
      """,
    options: [helperNames],
    examples: ["authbroker complete -- login --prof"])

  /// The option that `make install` uses.
  private static let helperNames = Option.flag("--helper-names", "print the names by which other tools run helpers")

  /// A person who presses a key does not wait longer.
  private static let patience = Duration.seconds(1)

  /// Prints the candidates.
  static func run(_ context: Context) throws(CommandFailure) {
    guard !context.arguments.has(helperNames.name) else {
      for name in HelperCommand.installedNames { Output.line(name) }
      return
    }
    let completer = Completer { completion, arguments in
      names(completion, Context(arguments: arguments, environment: context.environment))
    }
    switch completer.answer(context.arguments.operands) {
    case .files: Output.line(":files")
    case .directories: Output.line(":directories")
    case .candidates(let candidates):
      for candidate in candidates {
        Output.line(PlainText.line(candidate.word.utf8) + (candidate.meaning.isEmpty ? "" : "\t" + candidate.meaning))
      }
    }
  }

  /// The names from the running broker; without one, those that are known without it.
  private static func names(_ completion: Completion, _ context: Context) -> [String] {
    switch completion {
    // The daemon's program alone knows them.
    case .providers: return (try? OfferedProvider.all(context))?.map { $0.type } ?? []
    case .targets: return verdict(context)?.targets.map { $0.url } ?? []
    default: break
    }
    let broker = broker(context)
    switch completion {
    case .profiles: return broker?.sessions.map { $0.profile.description } ?? configuredProfiles(context)
    case .events: return broker?.capabilities.events ?? EventName.allCases.map { $0.rawValue }
    case .methods: return broker?.capabilities.methods ?? []
    default: return []
    }
  }

  private static func broker(_ context: Context) -> Initialize.Result? {
    guard let connector = try? context.connector(mayStart: false), let found = try? connector.connect() else {
      return nil
    }
    var connection = BlockingConnection(found)
    return try? connection.request(Initialize.self, .init(), timeout: patience)
  }

  private static func configuredProfiles(_ context: Context) -> [String] {
    verdict(context)?.profiles ?? []
  }

  private static func verdict(_ context: Context) -> ConfigurationVerdict? {
    (try? context.paths()).map { ConfigurationVerdict(context, $0) }
  }
}
