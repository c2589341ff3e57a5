import BrokerProtocol

/// `authbroker account reset`.
enum AccountResetCommand: Command {
  /// How the help explains it.
  static let description = CommandDescription(
    name: "account reset",
    summary: "Set a new password with the token of a message",
    details: """
      Asks for the token that `authbroker account forgot` has sent for, and for the new password twice, without echo.
      With both --token-stdin and --password-stdin, the token is the first line of standard input.
      """,
    options: [SecretInput.tokenOption] + PasswordSource.options)

  /// Asks for the token and the password.
  static func run(_ context: Context) throws(CommandFailure) {
    try context.expectOperands(0...0, of: self)
    let profile = try context.arguments.profile()
    var dialogue = LoginDialogue(context, try context.connect())
    try dialogue.expectAbility(ResetPassword.self, of: profile)
    let hint = try dialogue.passwordHint(profile)
    let token = try SecretInput.token(context)
    let password = try PasswordSource.new(context, question: "New password", hint: hint)
    _ = try dialogue.change(
      ResetPassword.self, .init(profile: profile, token: token, password: password), of: profile)
    guard !context.wantsJSON else { return context.printJSON(Empty()) }
    context.tell(Message("the password is set", next: NextCommand("log in with", "login").on(profile)))
  }
}
