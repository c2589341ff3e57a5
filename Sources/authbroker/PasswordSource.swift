import SecretMemory

/// Where `login` and `register` get the password.
enum PasswordSource {
  /// The options of both.
  static let options: [Option] = [
    .flag("--password-stdin", "read the password from standard input, one line"),
    .value("--password-command", "CMD", "take it from the first line that a shell command prints"),
  ]

  /// Whether the password is asked for at a terminal.
  static func asks(_ context: Context) -> Bool {
    context.canAsk && !context.arguments.has("--password-stdin") && !context.arguments.has("--password-command")
  }

  /// Gets the password the way that the options say, or asks.
  ///
  /// - Parameters:
  ///   - context: the command line and the environment.
  ///   - isNew: whether it is asked for twice.
  ///   - hint: what stands behind the question.
  /// - Returns: the password.
  /// - Throws: a usage failure if no person can be asked.
  static func password(
    _ context: Context, isNew: Bool = false, hint: String = ""
  ) throws(CommandFailure) -> Secret {
    if context.arguments.has("--password-stdin") { return try SecretInput.standardInput(.password) }
    if context.arguments.has("--password-command") {
      return try SecretInput.output(of: "--password-command", context, .password)
    }
    guard context.canAsk else {
      throw .usage("there is no terminal to ask for the password at; use --password-stdin or --password-command")
    }
    let password = try SecretInput.ask("Password\(hint): ", for: .password)
    guard isNew else { return password }
    let again = try SecretInput.ask("Repeat the password: ", for: .password)
    guard password == again else { throw CommandFailure(.usage, "the two passwords differ; nothing was sent") }
    return password
  }
}
