import BrokerProtocol

/// `authbroker fleet init|status`.
enum FleetCommand: Command {
  static let name = "fleet"
  static let about = CommandDescription(
    operands: "init|status",
    summary: "Prepare the database of a fleet, or show what is in it",
    details: """
      The database is the one that store names in the configuration. init makes the table and the key of the fleet, unless
      they are there: run it once, for the first member. With --new-key it writes a new key to FILE first; every member
      needs the same one, as store.key. status shows whose sessions are there. A running broker is not asked.
      """,
    options: [.value("--new-key", "FILE", "write a new key for store.key, for init", completion: .files)],
    examples: ["authbroker fleet init --new-key /etc/authbroker/fleet.key", "authbroker fleet status --json"])

  /// Becomes the daemon, which knows how to read a configuration and to reach a database.
  static func run(_ context: Context) throws(CommandFailure) {
    let word = context.arguments.operands[0]
    guard ["init", "status"].contains(word) else {
      let words = "fleet " + word
      throw .unknown("command", words, likely: Spelling.nearest(to: words, among: ["fleet init", "fleet status"]))
    }
    var arguments = ["--fleet-" + word]
    if let file = context.arguments["--new-key"] {
      guard word == "init", !file.isEmpty else { throw .usage("--new-key FILE is for fleet init") }
      arguments += ["--new-key", file]
    }
    if context.wantsJSON { arguments.append("--json") }
    try DaemonProgram.become(context, arguments)
  }
}
