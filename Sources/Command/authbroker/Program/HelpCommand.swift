/// `authbroker help`.
enum HelpCommand: Command {
  static let name = "help"
  static let about = CommandDescription(
    operands: "[COMMAND]",
    operandCount: 0...9,
    summary: "Show the help of the program or of a command",
    examples: ["authbroker help", "authbroker help login", "authbroker help account update"])

  /// Prints the overview, or the help of one command.
  static func run(_ context: Context) throws(CommandFailure) {
    Output.data(Array(try text(context).utf8).span)
  }

  private static func text(_ context: Context) throws(CommandFailure) -> String {
    guard let name = context.arguments.operands.first else { return HelpText.overview }
    let command = try CommandList.command(named: name)
    if command.group != nil, context.arguments.operands.count > 1 {
      try context.expectOperands(2...2, of: description)
      return try command.member(named: context.arguments.operands[1]).description.help
    }
    let description = command.description
    // The overview shows `config check` as a command, so its help may be asked for by that.
    let second = context.arguments.operands.dropFirst().first
    let isSpelledOut = second != nil && second == description.subcommand
    try context.expectOperands(isSpelledOut ? 2...2 : 1...1, of: Self.description)
    return description.help
  }
}
