import BrokerProtocol

/// The plan of `helper install` and `helper remove`: a tool, the targets that it speaks to, and the steps.
struct ToolPlan {
  /// The tool that the command line names.
  let tool: ToolSetup
  /// The configured targets that it speaks to, or the one that `--url` names.
  let targets: [Target]
  /// The place of its configuration.
  let setup: SetupContext

  /// Reads the command line, and asks the broker for the targets.
  ///
  /// - Throws: a usage failure for an unknown tool; a failure of the broker.
  init(_ context: Context) throws(CommandFailure) {
    tool = try ToolSetup.named(context.arguments.operands[0])
    setup = try SetupContext(context)
    targets = try HelperSetup.targets(context, for: tool)
  }

  /// The steps that make the tool use its helper.
  var steps: [any SetupStep] { tool.steps(targets, setup) }
}
