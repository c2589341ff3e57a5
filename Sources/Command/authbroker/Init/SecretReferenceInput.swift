import JSON
import SecretMemory

/// The reference to a client's secret: the configuration names its place, and never holds the secret itself.
enum SecretReferenceInput {
  /// A value of `--set`: JSON where it looks like that, else text.
  static func value(_ text: String) -> ProfileDraft.Value {
    let isValue = (try? JSONDocument(parsing: Array(text.utf8))).map { $0.root.kind != .string } ?? false
    let isJSON = isValue || text.hasPrefix("[") || text.hasPrefix("{")
    return isJSON ? .json(text) : .text(text)
  }

  /// The reference of the options.
  ///
  /// - Throws: a usage failure where they say nothing, or two things.
  static func given(_ context: Context) throws(CommandFailure) -> ProfileDraft.Value {
    let given = ProfileQuestions.secretOptions.map { $0.name }.filter(context.arguments.has)
    guard given.count == 1 else { throw .usage("\(given[0]) and \(given[1]) cannot be combined") }
    let value = context.arguments[given[0]] ?? ""
    switch given[0] {
    case "--secret-file": return .file(value)
    case "--secret-env": return .environment(value)
    case "--secret-command": return .command(words(value))
    default: return .typed(try SecretInput.wholeInput(.secret))
    }
  }

  /// Asks a person.
  ///
  /// - Returns: nil where the client has none.
  static func ask(_ question: String, _ isRequired: Bool) throws(CommandFailure) -> ProfileDraft.Value? {
    let ways = (isRequired ? "" : "Enter: none, ") + "t: type it, or file PATH, env NAME, command CMD"
    while true {
      guard let answer = try Prompt.askOnce("\(question) (\(ways))") else {
        if isRequired { continue }
        return nil
      }
      let (kind, rest) = split(answer)
      switch (kind, rest.isEmpty) {
      case ("t", true): return .typed(try SecretInput.ask("Secret (not shown): ", for: .secret))
      case ("file", false): return .file(rest)
      case ("env", false): return .environment(rest)
      case ("command", false): return .command(words(rest))
      // What stands there may be the secret: it is not repeated.
      default: Output.message("enter t, file PATH, env NAME or command CMD; the secret itself only after t")
      }
    }
  }

  private static func split(_ text: String) -> (kind: String, rest: String) {
    let parts = text.split(separator: " ", maxSplits: 1).map(String.init)
    return (parts.first ?? "", parts.count > 1 ? parts[1] : "")
  }

  private static func words(_ text: String) -> [String] { text.split(separator: " ").map(String.init) }
}
