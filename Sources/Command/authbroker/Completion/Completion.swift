/// The kind of words that an operand or a value completes to.
enum Completion: Equatable, Sendable {
  /// Nothing that is known.
  case none
  /// The names of files, and of directories.
  case files, directories
  /// The profiles that are configured, the events and the methods of the broker.
  case profiles, events, methods
  /// The names of commands.
  case commands
  /// The types of provider that a profile can name, and the targets of the configuration.
  case providers, targets
  /// One of a few words.
  case words([String])
  /// One of a few words, with the meaning of each.
  case choices([Completer.Candidate])

  /// The kind of an operand, by the word that stands for it in the usage line.
  init(operand: Substring) {
    let name = operand.filter { $0 != "[" && $0 != "]" }
    switch name {
    case "PROFILE": self = .profiles
    case "COMMAND": self = .commands
    case "FILE": self = .files
    case _ where name.contains("|"): self = .words(name.split(separator: "|").map(String.init).filter { $0 != "-" })
    case _ where !name.isEmpty && name.utf8.allSatisfy({ (0x61...0x7A).contains($0) }): self = .words([name])
    default: self = .none
    }
  }
}
