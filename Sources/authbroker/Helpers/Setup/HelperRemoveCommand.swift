/// `authbroker helper remove`.
enum HelperRemoveCommand: Command {
  /// How the help explains it.
  static let description = CommandDescription(
    name: "helper remove",
    operands: "TOOL",
    summary: "Remove what helper install wrote",
    details: """
      Removes the entries and links that `helper install` made for the targets of the configuration, and nothing else.
      For a target that is no longer there, name its address with --url and the profile with -p.
      """,
    options: [HelperSetup.printOption, TargetOption.filter],
    examples: ["authbroker helper remove git"])

  /// Undoes the steps, the last one first.
  static func run(_ context: Context) throws(CommandFailure) {
    let plan = try ToolPlan(context, for: self)
    let (tool, setup, steps) = (plan.tool, plan.setup, plan.steps)
    guard !context.arguments.has(HelperSetup.printOption.name) else {
      for step in steps where step.state(setup) == .installed { Output.line(step.text) }
      return
    }
    var (count, failed) = (0, ExitCode?.none)
    for step in steps.reversed() {
      do throws(CommandFailure) { count += try step.remove(setup) ? 1 : 0 } catch {
        context.tell(error.message)
        failed = error.exitCode
      }
    }
    if let failed { throw .quiet(failed) }
    Output.message(count == 0 ? "nothing of authbroker's is in \(tool.name)'s configuration" : "\(tool.name): removed")
  }
}
