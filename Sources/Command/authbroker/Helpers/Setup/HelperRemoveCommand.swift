import JSON

/// `authbroker helper remove`.
enum HelperRemoveCommand: Command {
  static let name = "helper remove"
  static let about = CommandDescription(
    operands: "TOOL",
    summary: "Remove what helper install wrote",
    details: """
      Removes the entries and links that `helper install` made, also for targets that are configured no longer, and
      nothing else; with --url, those of one target alone.
      """,
    options: [HelperSetup.printOption, TargetOption.filter],
    operandCompletion: ToolSetup.completion,
    examples: ["authbroker helper remove git"])

  /// The steps to undo; the broker, which may not even start any more, is only asked for one target.
  private static func steps(
    of tool: ToolSetup, _ setup: SetupContext, _ context: Context
  ) throws(CommandFailure) -> [any SetupStep] {
    guard context.arguments.has(TargetOption.filter.name) else { return tool.steps([], setup) + tool.leftovers(setup) }
    return tool.steps(try HelperSetup.targets(context, for: tool), setup)
  }

  /// Undoes the steps, the last one first.
  static func run(_ context: Context) throws(CommandFailure) {
    let tool = try ToolSetup.named(context.arguments.operands[0])
    let setup = try SetupContext(context)
    let steps = try steps(of: tool, setup, context)
    guard !context.arguments.has(HelperSetup.printOption.name) else {
      var texts: [String] = []
      for step in steps where step.state(setup) == .installed && !texts.contains(step.text) { texts.append(step.text) }
      for text in texts { Output.line(text) }
      return
    }
    var (count, failed, told) = (0, ExitCode?.none, [Message]())
    for step in steps.reversed() {
      do throws(CommandFailure) { count += try step.remove(setup) ? 1 : 0 } catch {
        // Several entries of one file fail for the same reason.
        if !told.contains(error.message) { context.tell(error.message) }
        told.append(error.message)
        failed = error.exitCode
      }
    }
    if context.wantsJSON {
      var writer = JSONWriter()
      writer.object { writer in
        writer.member("tool", tool.name)
        writer.member("removed", count)
        if count == 0, failed == nil { writer.member("reason", nothing(tool)) }
      }
      Output.json(writer.bytes)
    }
    if let failed { throw .quiet(failed) }
    guard !context.wantsJSON else { return }
    Output.message(count == 0 ? nothing(tool) : "\(tool.name): removed")
  }

  private static func nothing(_ tool: ToolSetup) -> String {
    "nothing of authbroker's is in \(tool.name)'s configuration"
  }
}
