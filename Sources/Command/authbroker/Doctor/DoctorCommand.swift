import BrokerProtocol

/// `authbroker doctor`.
enum DoctorCommand: Command {
  static let name = "doctor"
  static let about = CommandDescription(
    operands: "[FILE]",
    summary: "Check the installation and suggest fixes",
    details: """
      Checks the environment, the files and their modes, the configuration, the broker (which is started if there is
      none), its vault, every page of it, and whether the broker reaches the provider of every profile, or of the one
      named by --profile: connection, certificate, clock; for a profile of the type mcp, each step from its resource to
      its tokens. Changes and repairs nothing, and sends no user's credential. Ends with 7 if the vault is damaged or
      locked, with 5 if nothing is wrong but that providers cannot be reached, with 1 for any other error, else with 0:
      warnings and notes are no failure.

      --tool looks at one tool instead: what of its configuration is there, and whether the answer to its own question for
      a target, such as that of `git credential fill`, has the broker's token. The token is never shown, and nothing is
      changed. A failure of a target has its exit code.

      --bundle writes what the doctor has found, the status, the sessions, the configuration and the log's last lines into
      an archive (tar) for a bug report: FILE, or one with the time in its name in the current directory. Tokens, accounts,
      names and everything that is not known to be harmless are left out. No file is overwritten. Read it before you send
      it to anyone.
      """,
    options: [
      .flag("--full", "check every page and every sealed value of the vault; this is the default"),
      .flag("--quick", "check only the vault's structure and its sessions"),
      .flag("--no-network", "contact no provider"),
      ToolExamination.option, BundleWriting.option,
    ],
    examples: [
      "authbroker doctor", "authbroker doctor --quick --no-network", "authbroker doctor --tool git",
      "authbroker doctor --json", "authbroker doctor --bundle",
    ])

  /// Runs all checks, prints their findings, and ends with the exit code of the worst.
  static func run(_ context: Context) throws(CommandFailure) {
    guard !context.arguments.has("--full") || !context.arguments.has("--quick") else {
      throw .usage("--full and --quick cannot be combined")
    }
    let isBundle = context.arguments.has(BundleWriting.option.name)
    guard isBundle || context.arguments.operands.isEmpty else {
      throw .usage("a file is named with \(BundleWriting.option.name)")
    }
    guard !isBundle || !context.arguments.has(ToolExamination.option.name) else {
      throw .usage("\(BundleWriting.option.name) and \(ToolExamination.option.name) cannot be combined")
    }
    // Before anything is looked at: a number or a name that cannot be read is the command line's fault, no finding.
    _ = try context.arguments.seconds("--timeout")
    _ = try context.arguments.profile()
    if let tool = context.arguments[ToolExamination.option.name] { return try examine(tool, context) }
    var installation = Installation(context, try context.paths())
    // First, since files that a start makes are no finding.
    installation.report.collect(context)
    installation.verdict = ConfigurationVerdict(context, installation.paths)
    let table = examine(installation)
    if isBundle { return try BundleWriting.write(BugReport(installation, table), context) }
    try show(table, context)
  }

  /// Examines one tool.
  private static func examine(_ tool: String, _ context: Context) throws(CommandFailure) {
    var table = DoctorTable(arguments: context.arguments)
    table.sections = try ToolExamination(context, tool).sections()
    try show(table, context)
  }

  private static func show(_ table: DoctorTable, _ context: Context) throws(CommandFailure) {
    if context.wantsJSON {
      context.printJSON(table)
    } else {
      for line in table.lines(context.style) { Output.line(line) }
    }
    guard table.exitCode == .success else { throw .quiet(table.exitCode) }
  }

  /// Runs all checks, in the order of the table.
  private static func examine(_ installation: Installation) -> DoctorTable {
    var table = DoctorTable(arguments: installation.context.arguments)
    table.add(EnvironmentCheck.self, installation)
    table.add(FilesCheck.self, installation)
    table.add(LeftoverCheck.self, installation)
    table.add(ConfigurationFileCheck.self, installation)
    table.add(OwnerCheck.self, installation)
    table.add(VaultCheck.self, installation)
    table.add(SessionCheck.self, installation)
    table.add(ProviderCheck.self, installation)
    table.add(ToolCheck.self, installation)
    return table
  }
}
