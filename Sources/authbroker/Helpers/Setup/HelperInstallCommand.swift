/// `authbroker helper install`.
enum HelperInstallCommand: Command {
  static let name = "helper install"
  /// How the help explains it.
  static let description = CommandDescription(
    name: name,
    operands: "TOOL",
    summary: "Write a tool's configuration for the configured targets",
    details: """
      Makes git, docker, cargo, pip, bazel, terraform or aws ask for the tokens of the section targets, and shows what to
      write for the tools that leave it to you. What is there already is kept: a file that cannot be read, or has another
      entry in the same place, is left as it is, and what belongs there is shown. Done twice, it changes nothing.
      """,
    options: [HelperSetup.printOption, TargetOption.filter] + AWSHelper.setupOptions,
    examples: [
      "authbroker helper install git",
      "authbroker helper install docker --print",
    ])

  /// Does what the tool needs, step by step.
  static func run(_ context: Context) throws(CommandFailure) {
    let plan = try ToolPlan(context, for: self)
    let (tool, setup, steps) = (plan.tool, plan.setup, plan.steps)
    if tool.name != AWSHelper.setup?.name,
      let other = AWSHelper.setupOptions.first(where: { context.arguments.has($0.name) })
    {
      throw .usage("\(other.name) is about aws; it does not go with \(tool.name)")
    }
    guard !plan.targets.isEmpty else { throw CommandFailure(.failure, HelperSetup.noTargets(for: tool)) }
    guard !context.arguments.has(HelperSetup.printOption.name) else {
      for step in steps { Output.line(step.text) }
      return
    }
    var (failed, told) = (ExitCode?.none, [Message]())
    for step in steps {
      do throws(CommandFailure) { try install(step, setup) } catch {
        // Several entries of one file fail for the same reason.
        if !told.contains(error.message) {
          Output.message(error.message.text(for: context.arguments) + "; it is left as it is; what belongs there:")
        }
        told.append(error.message)
        Output.line(step.text)
        failed = error.exitCode
      }
    }
    if let failed { throw .quiet(failed) }
    if plan.steps.contains(where: { $0.state(setup) == .installed }) {
      context.tell(Message("\(tool.name) is set up", next: NextCommand("check it with", "doctor", "--tool", tool.name)))
    }
  }

  private static func install(_ step: any SetupStep, _ setup: SetupContext) throws(CommandFailure) {
    guard step.state(setup) != .manual else { return Output.line(step.text) }
    if try step.install(setup) { Output.notice("done: " + step.text) }
  }
}
