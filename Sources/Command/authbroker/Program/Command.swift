/// One subcommand: its help, and its action.
protocol Command: SendableMetatype {
  /// The name, for which a command line is searched before anything else of the command is read.
  static var name: String { get }
  /// The help of the command; ``description`` adds the name.
  static var about: CommandDescription { get }

  /// Does it.
  ///
  /// - Throws: the failure that is printed and decides the exit code.
  static func run(_ context: Context) throws(CommandFailure)

  /// Whether standard output is another program's protocol, in which nothing else may stand.
  static var speaksProtocol: Bool { get }

  /// Its members where it stands for several commands; nil for a single one.
  static var group: [CommandEntry]? { get }
}

extension Command {
  /// None: it stands for itself.
  static var group: [CommandEntry]? { nil }

  /// It prints results.
  static var speaksProtocol: Bool { false }

  /// The usage and the explanation.
  static var description: CommandDescription {
    var description = about
    description.name = name
    return description
  }

  /// As a value.
  static var entry: CommandEntry { CommandEntry(self) }
}
