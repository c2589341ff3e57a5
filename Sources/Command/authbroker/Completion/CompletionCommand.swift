import BrokerProtocol

/// `authbroker completion`.
enum CompletionCommand: Command {
  static let name = "completion"
  static let about = CommandDescription(
    operands: "bash|zsh|fish",
    summary: "Print the completions for a shell",
    details: """
      The script asks `authbroker complete` for what the word under the cursor can become: commands, options, and the
      profiles, events and methods of the broker. `make install` puts it where the shells look; otherwise:
        bash  source <(authbroker completion bash)         in ~/.bashrc
        zsh   authbroker completion zsh > DIR/_authbroker  where DIR is in $fpath
        fish  authbroker completion fish | source          in config.fish
      """,
    examples: ["authbroker completion bash", "source <(authbroker completion bash)"])

  /// Prints the script.
  static func run(_ context: Context) throws(CommandFailure) {
    let name = context.arguments.operands[0]
    guard let shell = CompletionScript(rawValue: name) else {
      let all = CompletionScript.allCases.map { $0.rawValue }
      // All are named: `fsh` is as near to zsh as to fish.
      throw .unknown("shell", name, likely: nil, choices: all.joined(separator: ", "))
    }
    Output.data(Array(shell.text.utf8).span)
  }
}
