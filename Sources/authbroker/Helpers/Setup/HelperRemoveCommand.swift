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
    options: [HelperSetup.printOption, TargetOption.option],
    examples: ["authbroker helper remove git"])

  /// Undoes the steps, the last one first.
  static func run(_ context: Context) throws(CommandFailure) {
    try context.expectOperands(1...1, of: self)
    let tool = try ToolSetup.named(context.arguments.operands[0])
    let setup = try SetupContext(context)
    let targets = try HelperSetup.targets(context, for: tool)
    let steps = tool.steps(targets, setup)
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
