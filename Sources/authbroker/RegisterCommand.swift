import AuthBrokerClient
import BrokerProtocol

/// `authbroker register`.
enum RegisterCommand: Command {
  /// How the help explains it.
  static let description = CommandDescription(
    name: "register",
    summary: "Make an account at the profile's provider and log in",
    details: "Asks for what is not given, the password twice and without echo.",
    options: [
      .value("--email", "ADDRESS", "the account's address"),
      .value("--name", "NAME", "the name to show"),
      .value("--phone", "NUMBER", "where one-time codes go, such as +4912345678"),
    ] + PasswordSource.options)

  /// Asks for what is missing and makes the account.
  static func run(_ context: Context) throws(CommandFailure) {
    try context.expectOperands(0...0, of: self)
    let profile = try context.arguments.profile()
    try context.expectOpenVault()
    let email = try Prompt.answer("--email", "E-mail address", context)
    let password = try PasswordSource.password(context, isNew: true)
    var dialogue = LoginDialogue(context, try context.connect())
    let result = try dialogue.begin(
      Register.self,
      .init(
        profile: profile, email: email, password: password, name: context.arguments["--name"],
        phoneNumber: context.arguments["--phone"]))
    try dialogue.finish(result)
  }
}
