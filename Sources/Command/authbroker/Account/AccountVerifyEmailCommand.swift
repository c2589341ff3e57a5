import BrokerProtocol

/// `authbroker account verify-email`.
enum AccountVerifyEmailCommand: Command {
  static let name = "account verify-email"
  /// How the help explains it.
  static let description = CommandDescription(
    name: name,
    summary: "Confirm an e-mail address with the token that was sent to it",
    options: [SecretInput.tokenOption],
    examples: ["authbroker account verify-email"])

  /// Asks for the token.
  static func run(_ context: Context) throws(CommandFailure) {
    try context.expectOperands(0...0, of: self)
    let profile = try context.profile()
    var dialogue = LoginDialogue(context, try context.connect())
    try dialogue.expectAbility(VerifyEmail.self, of: profile)
    try dialogue.expectAccount(of: profile)
    let token = try SecretInput.token(context)
    _ = try dialogue.change(VerifyEmail.self, .init(profile: profile, token: token), of: profile)
    if context.wantsJSON { context.printJSON(Empty()) } else { Output.notice("the e-mail address is verified") }
  }
}
