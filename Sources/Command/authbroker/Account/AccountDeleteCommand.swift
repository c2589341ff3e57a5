import BrokerProtocol

/// `authbroker account delete`.
enum AccountDeleteCommand: Command {
  static let name = "account delete"
  /// How the help explains it.
  static let description = CommandDescription(
    name: name,
    summary: "Delete the account at the provider, and its session here",
    details: "Asks for the password, which confirms it. Nothing brings the account back.",
    options: PasswordSource.options,
    examples: ["authbroker account delete"])

  /// Asks for the password, and says what is gone.
  static func run(_ context: Context) throws(CommandFailure) {
    try context.expectOperands(0...0, of: self)
    let profile = try context.profile()
    var dialogue = LoginDialogue(context, try context.connect())
    try dialogue.expectAbility(DeleteAccount.self, of: profile)
    try dialogue.expectLogin(of: profile)
    if PasswordSource.asks(context) {
      let session = try dialogue.session(of: profile)
      Output.message("this deletes the account that is logged in to \(session.profile)\(session.userWords), for good")
    }
    try PasswordTries.repeated(context) { password throws(CommandFailure) in
      _ = try dialogue.change(DeleteAccount.self, .init(profile: profile, password: password), of: profile)
    }
    if context.wantsJSON { context.printJSON(Empty()) } else { Output.notice("the account is deleted") }
  }
}
