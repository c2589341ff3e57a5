/// What a command asks for that makes an account.
enum NewAccount {
  /// The options of such a command.
  static let options: [Option] =
    [
      .value("--email", "ADDRESS", "the account's address"),
      .value("--name", "NAME", "the name to show"),
      .value("--phone", "NUMBER", "where one-time codes go, such as +4912345678"),
    ] + PasswordSource.options

  /// The address, judged before anyone types a password twice; at a terminal it is asked for again.
  ///
  /// - Throws: a usage failure for an option's value that is no address.
  static func address(_ context: Context) throws(CommandFailure) -> String {
    while true {
      let email = try Prompt.answer("--email", "E-mail address", context)
      if RefusedFields.isAddress(email) { return email }
      let message = "\(email.shellQuoted) is not an e-mail address; give one such as ann@example.com"
      guard context.arguments["--email"] == nil else { throw CommandFailure(.usage, message) }
      Output.message(message)
    }
  }
}
