import BrokerProtocol

/// A command that a person may type next, and the words that lead to it.
///
/// Only ``text(for:)`` makes a line of it: nothing looks for a command in a sentence.
struct NextCommand: Equatable, Sendable {
  /// The words before the command, such as `log in with`.
  let lead: String
  /// The name of the command and what follows it, as the program receives them: not quoted for a shell.
  let words: [String]

  /// A command and what it is for.
  init(_ lead: String, _ words: String...) { self.init(lead, words: words) }

  /// A command whose words are known as a list.
  init(_ lead: String, words: [String]) {
    self.lead = lead
    self.words = words
  }

  /// The same command for a profile; the default profile needs no name, unless a current one is chosen.
  func on(_ profile: ProfileName?) -> NextCommand {
    guard let profile, profile != .default || CurrentProfile.isFound else { return self }
    return NextCommand(lead, words: words + ["--profile", profile.description])
  }

  /// The lead and the command as a shell takes it, with the options of this command line that say which broker is meant.
  ///
  /// - Parameter arguments: this command line; nil where it could not be read.
  /// - Returns: such as `log in with: authbroker --state /s login`.
  func text(for arguments: Arguments?) -> String { "\(lead): \(command(for: arguments))" }

  /// The command as a shell takes it.
  func command(for arguments: Arguments?) -> String {
    let chosen = options.compactMap { name in arguments?[name].map { [name, $0] } }.joined()
    return "authbroker " + (chosen + words).map { $0.shellQuoted }.joined(separator: " ")
  }

  /// The options that are repeated: the help is the same for every broker, and `stop` must find the broker whatever its
  /// configuration is.
  private var options: [String] {
    switch words.first {
    case "help": []
    case "stop": ["--state"]
    default: ["--state", "--socket", "--config"]
    }
  }
}
