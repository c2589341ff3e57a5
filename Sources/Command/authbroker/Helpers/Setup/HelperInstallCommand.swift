import JSON

/// `authbroker helper install`.
enum HelperInstallCommand: Command {
  static let name = "helper install"
  static let about = CommandDescription(
    operands: "TOOL",
    summary: "Write a tool's configuration for the configured targets",
    details: """
      Makes git, docker, cargo, pip, bazel, terraform or aws ask for the tokens of the section targets, and shows what to
      write for the tools that leave it to you. What is there already is kept: a file that cannot be read, or has another
      entry in the same place, is left as it is, and what belongs there is shown. Done twice, it changes nothing.
      """,
    options: [HelperSetup.printOption, TargetOption.filter] + AWSHelper.setupOptions,
    operandCompletion: ToolSetup.completion,
    examples: [
      "authbroker helper install git",
      "authbroker helper install docker --print",
    ])

  /// Sets the tool up, step by step.
  static func run(_ context: Context) throws(CommandFailure) {
    let plan = try ToolPlan(context)
    let (tool, setup, steps) = (plan.tool, plan.setup, plan.steps)
    if tool.name != AWSHelper.setup?.name,
      let other = AWSHelper.setupOptions.first(where: { context.arguments.has($0.name) })
    {
      throw .usage("\(other.name) is about aws; it does not go with \(tool.name)")
    }
    guard !plan.targets.isEmpty else { throw CommandFailure(.failure, HelperSetup.noTargets(for: tool)) }
    guard !context.arguments.has(HelperSetup.printOption.name) else {
      return show(steps.map { $0.text }, plan, context)
    }
    var (failed, told, texts) = (ExitCode?.none, [Message](), [String]())
    for step in steps {
      do throws(CommandFailure) {
        if step.state(setup) == .manual {
          texts.append(step.text)
          if !context.wantsJSON { Output.line(step.text) }
        } else if try step.install(setup) {
          Output.notice("done: " + step.text)
        }
      } catch {
        // Several entries of one file fail for the same reason.
        if !told.contains(error.message) {
          Output.message(error.message.text(for: context.arguments) + "; it is left as it is; what belongs there:")
        }
        told.append(error.message)
        texts.append(step.text)
        if !context.wantsJSON { Output.line(step.text) }
        failed = error.exitCode
      }
    }
    if context.wantsJSON { show(texts, plan, context) }
    if let failed { throw .quiet(failed) }
    if !context.wantsJSON, plan.steps.contains(where: { $0.state(setup) == .installed }) {
      context.tell(Message("\(tool.name) is set up", next: NextCommand("check it with", "doctor", "--tool", tool.name)))
    }
  }

  /// Prints the steps that are left to a person; as JSON with the state of the tool.
  private static func show(_ texts: [String], _ plan: ToolPlan, _ context: Context) {
    guard context.wantsJSON else {
      for text in texts { Output.line(text) }
      return
    }
    var writer = JSONWriter()
    writer.object { writer in
      writer.member("tool", plan.tool.name)
      writer.member("state", HelperListCommand.word(for: plan.steps, plan.setup))
      writer.member("byHand", texts)
    }
    Output.json(writer.bytes)
  }
}
