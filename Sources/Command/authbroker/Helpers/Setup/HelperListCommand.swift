import BrokerProtocol
import JSON

/// `authbroker helper list`.
enum HelperListCommand: Command {
  static let name = "helper list"
  static let about = CommandDescription(
    operands: "[TOOL]",
    summary: "Show the tools that can be set up, and which are",
    options: [TargetOption.filter],
    examples: ["authbroker helper list"])

  /// Prints a line for each tool.
  static func run(_ context: Context) throws(CommandFailure) {
    let tools = try HelperSetup.tools(context)
    let setup = try SetupContext(context)
    let targets = try HelperSetup.targets(context)
    let rows = tools.map { tool in
      let own = targets.filter(tool.concerns)
      let isIdle = tool.needsTargets && own.isEmpty
      let state = isIdle ? noTargets : word(for: tool.steps(own, setup), setup)
      return (tool: tool, targets: own, state: state)
    }
    guard !context.wantsJSON else {
      return context.printJSON("tools", rows) { writer, row in
        writer.member("tool", row.tool.name)
        writer.member("state", row.state)
        writer.member("targets", row.targets.map { $0.url })
        let warnings = row.tool.unboundHelpers(setup).map { $0.message(row.tool.name).text(for: context.arguments) }
        if !warnings.isEmpty { writer.member("warnings", warnings) }
      }
    }
    var table = TextTable("TOOL", "STATE", "TARGETS", "GIVES")
    for row in rows {
      table.add(row.tool.name, row.state, row.targets.isEmpty ? nil : String(row.targets.count), row.tool.summary)
    }
    table.print(context.style)
    for tool in tools {
      for chosen in tool.unboundHelpers(setup) { context.notice(chosen.message(tool.name)) }
    }
  }

  /// The state of a tool that no target concerns: there is nothing that it could be set up for.
  static let noTargets = "no targets"

  /// How far steps are, as one word.
  static func word(for steps: [any SetupStep], _ setup: SetupContext) -> String {
    word(
      for: steps.filter { !$0.isLink }.map { $0.state(setup) },
      links: steps.filter { $0.isLink }.map { $0.state(setup) })
  }

  /// The state of all steps, as one word; links count where they are all there is, or something else is done.
  static func word(for states: [SetupState], links: [SetupState] = []) -> String {
    let entries = states.filter { $0 != .manual }
    let isBegun = entries.isEmpty || entries.contains(.installed)
    let own = entries + links.filter { isBegun || $0 != .installed }
    if own.isEmpty { return "manual" }
    if own.allSatisfy({ $0 == .installed }) { return "installed" }
    if own.contains(where: { if case .blocked = $0 { true } else { false } }) { return "blocked" }
    return own.contains(.installed) ? "partly installed" : "not installed"
  }
}
