/// A helper as a value, in a list with others: Embedded Swift has no existential metatypes.
struct HelperEntry: Sendable {
  /// The helper as a command.
  let command: CommandEntry
  private let namesOf: @Sendable () -> [String]
  private let setupOf: @Sendable () -> ToolSetup?

  /// The entry of a helper.
  init<Helper: ToolHelper>(_ helper: Helper.Type) {
    command = Helper.entry
    namesOf = { Helper.programNames }
    setupOf = { Helper.setup }
  }

  /// The names that the program may be called by, the usual one first.
  var programNames: [String] { namesOf() }
  /// The setup of its tool; nil where there is nothing to set up.
  var setup: ToolSetup? { setupOf() }
  /// The name behind `helper`.
  var toolName: String { String(command.name.split(separator: " ").last ?? "") }
}
