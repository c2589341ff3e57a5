/// One option of a command line, as it is read and as its help shows it.
struct Option: Equatable, Sendable {
  /// The name with its dashes.
  let name: String
  /// What stands for its value in the help; nil: it has none.
  let value: String?
  /// What it is for.
  let meaning: String

  /// An option that takes a value.
  static func value(_ name: String, _ value: String, _ meaning: String) -> Option {
    Option(name: name, value: value, meaning: meaning)
  }

  /// An option that is there or not.
  static func flag(_ name: String, _ meaning: String) -> Option {
    Option(name: name, value: nil, meaning: meaning)
  }

  /// The short names that every command understands.
  static let longNames = ["-h": "--help", "-p": "--profile", "-q": "--quiet"]

  /// Those that every command takes, before or behind the command's name.
  static let global: [Option] = [
    .value("--state", "DIR", "the broker's state directory"),
    .value("--socket", "PATH", "where a broker that is started listens"),
    .value("--config", "FILE", "the configuration"),
    .value("--profile", "NAME", "which profile, where several are configured; also -p"),
    .flag("--json", "results as JSON"),
    .flag("--no-start", "start no broker where there is none"),
    .value("--timeout", "SECONDS", "how long to wait; exit code 5 after that, or 3 where the user is waited for"),
    .flag("--help", "show the help of a command; also -h"),
  ]
}
