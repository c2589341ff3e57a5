/// One option of a command line, as it is read and as its help shows it.
struct Option: Equatable, Sendable {
  /// The name with its dashes.
  let name: String
  /// The placeholder of its value in the help; nil for an option without one.
  let value: String?
  /// The meaning, for the help.
  let meaning: String
  /// The completion of its value.
  var completion = Completion.none
  /// The member of the request that carries its value; nil for the one of the same name.
  var member: String?

  /// An option that takes a value.
  static func value(
    _ name: String, _ value: String, _ meaning: String, completion: Completion = .none, member: String? = nil
  ) -> Option {
    Option(name: name, value: value, meaning: meaning, completion: completion, member: member)
  }

  /// An option that is there or not.
  static func flag(_ name: String, _ meaning: String) -> Option {
    Option(name: name, value: nil, meaning: meaning)
  }

  /// The short names: those of every command, and those of requests, which other programs for these have, too.
  static let longNames = [
    "-h": "--help", "-p": "--profile", "-q": "--quiet", "-V": "--version", "-X": "--method", "-H": "--header",
    "-d": "--data", "-i": "--include", "-o": "--output",
  ]
  /// The ones that take a value.
  private static let shortWithValue: Set = ["-p", "-X", "-H", "-d", "-o"]

  /// The short name with its dash; nil where there is none.
  var shortName: String? { Self.longNames.first { $0.value == name }?.key }

  /// The short options that a word such as `-qp` stands for; nil where it is another word.
  ///
  /// Only the last of them may take a value, which is the next word.
  static func group(_ word: String) -> [String]? {
    guard word.utf8.count > 2, word.hasPrefix("-"), !word.hasPrefix("--") else { return nil }
    let names = word.dropFirst().map { "-\($0)" }
    return names.allSatisfy { longNames[$0] != nil && (!shortWithValue.contains($0) || $0 == names.last) } ? names : nil
  }

  /// The option that prints the version of the program, in the place of a command.
  static let version = Option.flag("--version", "print the version of the program")

  /// The options of every command, before or behind the command's name.
  static let global: [Option] = [
    .value("--profile", "PROFILE", "which profile, where several are configured", completion: .profiles),
    .flag("--json", "results as JSON"),
    .flag("--quiet", "no notices on standard error, only failures"),
    .value("--state", "DIR", "the broker's state directory", completion: .directories),
    .value("--socket", "PATH", "where a broker that is started listens", completion: .files),
    .value("--config", "FILE", "the configuration", completion: .files),
    .value("--trust-group", "GROUP", "trust what this group can change (AUTHBROKER_TRUST_GROUP)"),
    .flag("--no-start", "start no broker where there is none"),
    .value("--timeout", "SECONDS", "how long to wait; exit code 5 after that, or 3 where the user is waited for"),
    .flag("--help", "show the help of a command"),
  ]
}
