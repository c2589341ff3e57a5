/// `authbroker` alone.
enum OverviewCommand: Command {
  static let name = ""
  /// How the help explains it: it has no name, and no list has it.
  static let description = CommandDescription(
    name: name, summary: "Show where to begin", examples: ["authbroker"])

  /// Prints the commands that people need first.
  static func run(_ context: Context) throws(CommandFailure) {
    Output.data(Array(HelpText.start.utf8).span)
  }
}
