import AuthBrokerClient
import BrokerProtocol

/// `authbroker login`.
enum LoginCommand: Command {
  /// How the help explains it.
  static let description = CommandDescription(
    name: "login",
    summary: "Log in with e-mail address and password",
    details: """
      Asks for what is not given, the password and a one-time code without echo; `resend` instead of a code asks for
      another one. Without a terminal, a login that wants a code ends with exit code 3 and names the command that
      answers it.
      """,
    options: [.value("--email", "ADDRESS", "the account")] + PasswordSource.options)

  /// Asks for what is missing, logs in, and goes on until there is a session.
  static func run(_ context: Context) throws(CommandFailure) {
    try context.expectOperands(0...0, of: self)
    let profile = try context.arguments.profile()
    try context.expectOpenVault()
    let email = try Prompt.answer("--email", "E-mail address", context)
    let password = try PasswordSource.password(context)
    var dialogue = LoginDialogue(context, try context.connect())
    let result = try dialogue.begin(Login.self, .init(profile: profile, email: email, password: password))
    try dialogue.finish(result)
  }
}
