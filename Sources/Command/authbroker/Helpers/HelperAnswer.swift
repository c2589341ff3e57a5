import StateDirectory

/// Common parts of helpers' answers.
enum HelperAnswer {
  /// The message of a failure, in one line, for tools that want it on standard output.
  static func sentence(of failure: CommandFailure, _ context: Context) -> String {
    let text = FirstAccount.explained(failure, context).message.text(for: context.arguments)
    return PlainText.line(text.utf8)
  }

  /// Whether every byte of a string is a visible character of ASCII, as in the addresses and names of a protocol.
  static func isVisible(_ text: String) -> Bool { text.utf8.allSatisfy { (0x21...0x7E).contains($0) } }
}
