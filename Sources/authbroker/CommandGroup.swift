import BrokerProtocol

/// Several commands behind one word, such as `account show` and `account update`.
protocol CommandGroup: Command {
  /// One line for the list of commands, without a full stop.
  static var summary: String { get }
  /// What the help adds to that.
  static var details: String { get }
  /// Its commands, in the order of the help; the name of each begins with that word.
  static var members: [any Command.Type] { get }
}

extension CommandGroup {
  /// Itself.
  static var group: (any CommandGroup.Type)? { self }

  /// How the help explains it: by the list of its commands.
  static var description: CommandDescription {
    CommandDescription(
      name: name, operands: "COMMAND", summary: summary,
      details: "\(details)\n\nCommands:\n\(HelpText.commands(members))\n`authbroker help \(name) COMMAND` says more.",
      examples: members.prefix(3).compactMap { $0.description.examples.first })
  }

  /// Prints the help: which of the commands is meant was not said.
  static func run(_ context: Context) throws(CommandFailure) {
    Output.data(Array(description.help.utf8).span)
  }

  /// Finds one of the commands by the word behind the group's own.
  ///
  /// - Throws: a usage failure with a suggestion.
  static func member(named word: String) throws(CommandFailure) -> any Command.Type {
    if let member = members.first(where: { $0.name == "\(name) \(word)" }) { return member }
    let words = members.map { String($0.name.dropFirst(name.count + 1)) }
    let likely = Spelling.nearest(to: word, among: words).map { "\(name) \($0)" }
    throw CommandFailure.unknown("command", "\(name) \(word)", likely: likely).namingHelp(of: name)
  }
}
