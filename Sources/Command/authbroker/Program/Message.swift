import LinuxSystem

/// A message for a person: what happened, and the command to type next where there is one.
struct Message: Equatable, Sendable {
  /// The statement, in lower case and without a full stop; empty where everything has been said.
  var sentence: String
  /// The command to type next.
  var next: NextCommand?

  /// A message.
  init(_ sentence: String, next: NextCommand? = nil) {
    self.sentence = sentence
    self.next = next
  }

  /// The same, behind the words that say what it is the reason for.
  func behind(_ prefix: String) -> Message { Message(prefix + sentence, next: next) }

  /// The message as it is printed.
  ///
  /// - Parameter arguments: this command line, whose broker the command is for; nil where it could not be read.
  /// - Returns: one line.
  func text(for arguments: Arguments?) -> String {
    guard let next else { return sentence }
    return sentence + "; " + next.text(for: arguments)
  }

  /// The message as a terminal shows it: a command that the terminal would break stands on a line of its own.
  ///
  /// - Parameters:
  ///   - arguments: as of ``text(for:)``.
  ///   - prefix: what stands before it.
  ///   - columns: the width of the terminal; nil where there is none.
  /// - Returns: one line or two.
  func shown(
    for arguments: Arguments?, behind prefix: String = "authbroker: ", columns: Int? = Terminal.columns(2)
  ) -> String {
    let text = text(for: arguments)
    guard let next, let columns, prefix.count + text.count > columns else { return text }
    return (sentence.isEmpty ? "" : sentence + "; ") + next.lead + ":\n  " + next.command(for: arguments)
  }
}
