/// How a subcommand is called and explained.
struct CommandDescription: Equatable, Sendable {
  /// The name on the command line.
  let name: String
  /// What follows the name in the usage line.
  var operands = ""
  /// One line for the list of commands, without a full stop.
  let summary: String
  /// What the help adds to that.
  var details = ""
  /// Its own options.
  var options: [Option] = []

  /// The command's help.
  var help: String {
    let usage = ["usage: authbroker", name, operands, options.isEmpty ? "" : "[options]"]
    var text = usage.filter { !$0.isEmpty }.joined(separator: " ") + "\n\n" + summary + ".\n"
    if !details.isEmpty { text += "\n" + details + "\n" }
    if !options.isEmpty { text += "\nOptions:\n" + HelpText.table(options) }
    return text + "\nEvery command takes:\n" + HelpText.table(Option.global)
  }
}
