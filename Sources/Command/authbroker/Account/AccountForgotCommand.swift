import BrokerProtocol

/// `authbroker account forgot`.
enum AccountForgotCommand: Command {
  static let name = "account forgot"
  /// How the help explains it.
  static let description = CommandDescription(
    name: name,
    summary: "Have the provider send a token for a new password",
    details: "The answer is the same whether or not there is an account of that address.",
    options: [.value("--email", "ADDRESS", "the account")],
    examples: ["authbroker account forgot --email ann@example.com"])

  /// Asks for the address where it is not given, and says what to do with the token.
  static func run(_ context: Context) throws(CommandFailure) {
    try context.expectOperands(0...0, of: self)
    let profile = try context.profile()
    var dialogue = LoginDialogue(context, try context.connect())
    try dialogue.expectAbility(ForgotPassword.self, of: profile)
    try dialogue.expectAccount(of: profile)
    let email = try Prompt.answer("--email", "E-mail address", context)
    _ = try dialogue.change(ForgotPassword.self, .init(profile: profile, email: email), of: profile)
    guard !context.wantsJSON else { return context.printJSON(Empty()) }
    context.tell(
      Message(
        "if there is an account of that address, it is sent a token",
        next: NextCommand("set a new password with", "account", "reset").on(profile)))
    OutboxNotice.tellOfToken(profile, &dialogue)
  }
}
