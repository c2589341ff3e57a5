/// Several commands behind one word, such as `account show` and `account update`.
protocol CommandGroup: Command {
  /// One line for the list of commands, without a full stop.
  static var summary: String { get }
  /// Further lines of the help.
  static var details: String { get }
  /// Its commands, in the order of the help; the name of each begins with that word.
  static var members: [CommandEntry] { get }
}

extension CommandGroup {
  /// Its members.
  static var group: [CommandEntry]? { members }

  /// The list of its commands, and their common help.
  static var about: CommandDescription {
    CommandDescription(
      operands: "COMMAND", operandCount: 0...0, summary: summary,
      details: "\(details)\n\nCommands:\n\(HelpText.commands(members))\n`authbroker help \(name) COMMAND` says more.",
      examples: members.prefix(3).compactMap { $0.description.examples.first })
  }

  /// Prints the help: the line does not say which of the commands is meant.
  static func run(_ context: Context) throws(CommandFailure) {
    Output.data(Array(description.help.utf8).span)
  }
}
