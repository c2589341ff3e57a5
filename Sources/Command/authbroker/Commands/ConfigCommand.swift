import BrokerProtocol

/// `authbroker config check`.
enum ConfigCommand: Command {
  static let name = "config"
  static let about = CommandDescription(
    operands: "check [FILE]",
    summary: "Check the configuration",
    details: """
      FILE, or the configuration that the broker would use. Nothing is started or changed. Every mistake is a line with its
      place and what to write instead. With --json one object: ok and file, and where ok is false a message and the
      mistakes, else the profiles, the keySource of a new vault, and its keyFile.
      """,
    examples: ["authbroker config check", "authbroker config check new.json --json"])

  /// Becomes the daemon, which knows how to read a configuration.
  static func run(_ context: Context) throws(CommandFailure) {
    guard context.arguments.operands[0] == "check" else {
      let word = "config " + context.arguments.operands[0]
      throw .unknown("command", word, likely: Spelling.nearest(to: word, among: ["config check"]))
    }
    var arguments = ["--check-config"]
    if let file = context.arguments.operands.dropFirst().first {
      guard !file.isEmpty else { throw .usage("FILE is empty; name a file, or leave it out") }
      arguments += ["--config", file]
    }
    if context.wantsJSON { arguments.append("--json") }
    try DaemonProgram.become(context, arguments)
  }
}
