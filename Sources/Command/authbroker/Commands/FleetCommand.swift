import BrokerProtocol
import LinuxSystem
import StateDirectory

/// `authbroker fleet init|status|rekey|leave`.
enum FleetCommand: Command {
  static let name = "fleet"
  static let about = CommandDescription(
    operands: "init|status|rekey|leave",
    summary: "Prepare the database of a fleet, show what is in it, change its key, or leave it",
    details: """
      The database is the one that store names in the configuration. init makes the table and the key of the fleet, unless
      they are there: run it once, for the first member. With --new-key it writes a new key to FILE first; every member
      needs the same one, as store.key. status shows whose sessions are there, and why one is not usable here. rekey
      re-encrypts all of them under a new key, which the members take up by themselves; with --new-key, store.key is another
      one as well, and is to be put into its place on every member. leave removes the key of this machine, whose broker must
      not run, and says what is left to do; at a terminal this is asked first, elsewhere --yes is needed. A running broker is
      not asked.
      """,
    options: [
      .value("--new-key", "FILE", "write a new key for store.key, for init and rekey", completion: .files),
      .flag("--yes", "leave without a question"),
    ],
    examples: [
      "authbroker fleet init --new-key /etc/authbroker/fleet.key", "authbroker fleet status --json",
      "authbroker fleet rekey", "authbroker fleet leave",
    ])

  private static let words = ["init", "status", "rekey", "leave"]

  /// Becomes the daemon, which knows how to read a configuration and to reach a database.
  static func run(_ context: Context) throws(CommandFailure) {
    let word = context.arguments.operands[0]
    guard words.contains(word) else {
      let words = "fleet " + word
      throw .unknown(
        "command", words, likely: Spelling.nearest(to: words, among: Self.words.map { "fleet " + $0 }))
    }
    var arguments = ["--fleet-" + word]
    if let file = context.arguments["--new-key"] {
      guard word == "init" || word == "rekey", !file.isEmpty else {
        throw .usage("--new-key FILE is for fleet init and fleet rekey")
      }
      arguments += ["--new-key", file]
    }
    if context.arguments.has("--yes") {
      guard word == "leave" else { throw .usage("--yes is for fleet leave") }
      arguments.append("--yes")
    } else if word == "leave", try isConfirmed(arguments, context) {
      arguments.append("--yes")
    }
    if context.wantsJSON { arguments.append("--json") }
    try DaemonProgram.become(context, arguments)
  }

  /// Asks what the daemon would ask; false where that has refused, and says why once more.
  private static func isConfirmed(_ arguments: [String], _ context: Context) throws(CommandFailure) -> Bool {
    let paths = try context.paths()
    let report: DaemonProgram.Report
    do throws(Errno) { report = try DaemonProgram.report(context, paths, arguments) } catch { return false }
    guard report.code == 0 else { return false }
    guard !report.text.isEmpty else { return true }
    guard context.canAsk else { throw .usage("there is no terminal to ask at; give --yes") }
    guard ["y", "Y", "yes"].contains(try Prompt.askOnce(report.text + " [y/N]")) else {
      throw CommandFailure(.failure, "nothing was removed")
    }
    return true
  }
}
