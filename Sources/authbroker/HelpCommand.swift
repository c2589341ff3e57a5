/// `authbroker help`.
enum HelpCommand: Command {
  /// How the help explains it.
  static let description = CommandDescription(
    name: "help",
    operands: "[COMMAND]",
    summary: "Show the help of the program or of a command")

  /// Prints the overview, or the help of one command.
  static func run(_ context: Context) throws(CommandFailure) {
    try context.expectOperands(0...1, of: self)
    let text = try context.arguments.operands.first.map { name throws(CommandFailure) in
      try CommandList.command(named: name).description.help
    }
    Output.data(Array((text ?? HelpText.overview).utf8).span)
  }
}
