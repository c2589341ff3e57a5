import SecretMemory

/// The sources of passwords for commands.
enum PasswordSource {
  /// The options of every command that takes one.
  static let options: [Option] = [
    .flag("--password-stdin", "read the password from standard input, one line"),
    .value("--password-command", "CMD", "take it from the first line that a shell command prints"),
  ]

  /// The options of a command that takes a present and a new one.
  static let changeOptions: [Option] = [
    .flag("--password-stdin", "read both passwords from standard input, the present one first"),
    .value("--password-command", "CMD", "take the present one from the first line that a shell command prints"),
    newOption,
  ]

  /// The option for the source of the new password.
  static let newOption = Option.value(
    "--new-password-command", "CMD", "as --password-command, for the new password")

  /// Whether the password is asked for at a terminal; `command` is the option that names a program which prints it.
  static func asks(_ context: Context, command: String = "--password-command") -> Bool {
    context.canAsk && !context.arguments.has("--password-stdin") && !context.arguments.has(command)
  }

  /// Whether an option says where the password comes from.
  static func isGiven(_ context: Context) -> Bool {
    context.arguments.has("--password-stdin") || context.arguments.has("--password-command")
  }

  /// Gets the password that an account has the way that the options say, or asks.
  ///
  /// - Throws: a usage failure if no person can be asked.
  static func password(_ context: Context, question: String = "Password") throws(CommandFailure) -> Secret {
    if let given = try SecretInput.given(.password, context, command: "--password-command") { return given }
    return try SecretInput.ask(question + ": ", for: .password)
  }

  /// Gets the password that an account is to have, asking for it twice.
  ///
  /// - Parameters:
  ///   - context: the command line and the environment.
  ///   - question: what is asked.
  ///   - rule: what is known of what the provider wants.
  ///   - command: the option that names a program which prints it.
  /// - Returns: the password.
  /// - Throws: a usage failure if no person can be asked, or if the two answers still differ at the third time.
  static func new(
    _ context: Context, question: String = "Password", rule: NewPasswordRule, command: String = "--password-command"
  ) throws(CommandFailure) -> Secret {
    if let given = try SecretInput.given(.password, context, command: command, isNew: true) { return given }
    return try RepeatedSecret.ask(question + rule.hint, for: .password) { password in
      rule.isTooShort(password) ? "the password is too short; it needs at least \(rule.fewest) characters" : nil
    }
  }
}
