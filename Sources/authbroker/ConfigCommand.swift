/// `authbroker config check`.
enum ConfigCommand: Command {
  /// How the help explains it.
  static let description = CommandDescription(
    name: "config",
    operands: "check [FILE]",
    summary: "Check the configuration and say what is wrong with it",
    details: """
      FILE, or the configuration that the broker would use. Nothing is started or changed. With --json one object: ok, and
      where that is false a message, else the profiles, the keySource of a new vault, and its keyFile.
      """)

  /// Becomes the daemon, which knows how to read a configuration.
  static func run(_ context: Context) throws(CommandFailure) {
    try context.expectOperands(1...2, of: self)
    guard context.arguments.operands[0] == "check" else {
      throw .usage("there is no command config \(context.arguments.operands[0]); see: authbroker help config")
    }
    var arguments = ["--check-config"]
    if context.arguments.operands.count > 1 { arguments += ["--config", context.arguments.operands[1]] }
    if context.wantsJSON { arguments.append("--json") }
    try DaemonProgram.become(context, arguments)
  }
}
