/// `authbroker` alone.
enum OverviewCommand: Command {
  static let name = ""
  static let about = CommandDescription(
    summary: "Show where to begin", examples: ["authbroker"])

  /// Prints the commands that people need first.
  static func run(_ context: Context) throws(CommandFailure) {
    Output.data(Array(HelpText.start.utf8).span)
  }
}
