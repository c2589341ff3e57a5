import BrokerProtocol

/// Common parts of the commands that set tools up.
enum HelperSetup {
  /// Shows what would be done.
  static let printOption = Option.flag("--print", "show what would be written and where, and change nothing")

  /// The tools that a command line names; every tool where it names none.
  static func tools(_ context: Context) throws(CommandFailure) -> [ToolSetup] {
    guard let word = context.arguments.operands.first else { return ToolSetup.all }
    return [try ToolSetup.named(word)]
  }

  /// The targets of the configuration that a tool speaks to, or the one that `--url` belongs to.
  ///
  /// For a tool that speaks to none it is the profile of the command line, under the tool's name. Tools are set up for
  /// single servers, so a target of several (`*.`) is not among them.
  static func targets(_ context: Context, for tool: ToolSetup) throws(CommandFailure) -> [Target] {
    guard tool.needsTargets else {
      return [Target(url: tool.name, profile: try context.arguments.profile() ?? .default)]
    }
    return try targets(context).filter { !$0.url.contains("*") && tool.concerns($0) }
  }

  /// The targets of the configuration, or the one that `--url` belongs to.
  static func targets(_ context: Context) throws(CommandFailure) -> [Target] {
    if let target = try TargetOption.target(context) { return [target] }
    var broker = try HelperBroker(context)
    return try broker.targets()
  }

  /// The message where no target is configured.
  static func noTargets(for tool: ToolSetup) -> Message {
    Message(
      "no configured target is one that \(tool.name) speaks to",
      next: NextCommand("add one with", "target", "add", "URL"))
  }
}
