import AuthBrokerClient
import BrokerProtocol

/// `authbroker register`.
enum RegisterCommand: Command {
  /// How the help explains it.
  static let description = CommandDescription(
    name: "register",
    summary: "Create an account at the profile's provider and log in",
    details: "Asks for what is not given, the password twice and without echo.",
    options: NewAccount.options)

  /// Asks for what is missing and makes the account.
  static func run(_ context: Context) throws(CommandFailure) {
    try context.expectOperands(0...0, of: self)
    let profile = try context.arguments.profile()
    if let session = try context.sessionBeforeAsking(of: profile), ExitCode(session.state) == .success {
      Output.message(LoginCommand.replacing(session))
    }
    // Before anything is typed: a profile that is not there, and what its provider wants.
    var dialogue = LoginDialogue(context, try context.connect())
    let hint = try dialogue.passwordHint(profile, hasSecondFactor: context.arguments.has("--phone"))
    try dialogue.expectAbility(Register.self, of: profile)
    let email = try NewAccount.address(context)
    let password = try PasswordSource.new(context, hint: hint)
    let result: LoginResult
    do throws(CommandFailure) {
      result = try dialogue.begin(
        Register.self,
        .init(
          profile: profile, email: email, password: password, name: context.arguments["--name"],
          phoneNumber: context.arguments["--phone"]),
        undoing: .registration)
    } catch { throw dialogue.explained(error) }
    try dialogue.finish(result)
  }
}
