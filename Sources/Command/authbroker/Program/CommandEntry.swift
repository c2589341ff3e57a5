import BrokerProtocol

/// A command as a value, in a list with others: Embedded Swift has no existential metatypes.
struct CommandEntry: Sendable {
  /// The name.
  let name: String
  /// Whether standard output is another program's protocol, in which nothing else may stand.
  let speaksProtocol: Bool
  private let descriptionOf: @Sendable () -> CommandDescription
  private let groupOf: @Sendable () -> [CommandEntry]?
  private let perform: @Sendable (Context) throws(CommandFailure) -> Void

  /// The entry of a command.
  init<C: Command>(_ command: C.Type) {
    // Nothing but the name of a command is made before it is asked for: a line is searched for a name among all of them.
    name = C.name
    speaksProtocol = C.speaksProtocol
    descriptionOf = { C.description }
    groupOf = { C.group }
    perform = { context throws(CommandFailure) in try C.run(context) }
  }

  /// The entry of a command that stands in a table of others.
  init(
    _ name: String, _ about: @autoclosure @escaping @Sendable () -> CommandDescription,
    run: @escaping @Sendable (Context) throws(CommandFailure) -> Void
  ) {
    self.name = name
    speaksProtocol = false
    descriptionOf = {
      var description = about()
      description.name = name
      return description
    }
    groupOf = { nil }
    perform = run
  }

  /// Whether its connections show that it has the state directory.
  var isAdministrative: Bool { CommandList.isAdministrative(name) }
  /// The usage and the explanation.
  var description: CommandDescription { descriptionOf() }
  /// Its members where it stands for several commands; nil for a single one.
  var group: [CommandEntry]? { groupOf() }

  /// Does it.
  ///
  /// - Throws: the failure that is printed and decides the exit code.
  func run(_ context: Context) throws(CommandFailure) { try perform(context) }

  /// Finds one of its members by the word behind its own name.
  ///
  /// - Throws: a usage failure with a suggestion.
  func member(named word: String) throws(CommandFailure) -> CommandEntry {
    let members = group ?? []
    let wanted = "\(name) \(word)"
    if let member = members.first(where: { $0.name == wanted }) { return member }
    let words = members.map { String($0.name.dropFirst(name.count + 1)) }
    let likely = Spelling.nearest(to: word, among: words).map { "\(name) \($0)" }
    throw CommandFailure.unknown("command", "\(name) \(word)", likely: likely).namingHelp(of: name)
  }
}
