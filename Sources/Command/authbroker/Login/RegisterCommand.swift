import AuthBrokerClient
import BrokerProtocol

/// `authbroker register`.
enum RegisterCommand: Command {
  static let name = "register"
  static let about = CommandDescription(
    summary: "Create an account at the profile's provider and log in",
    details: """
      Asks for what is not given, the password twice and without echo. At a terminal, what the provider does not take is
      asked for again.
      """,
    options: NewAccount.options,
    examples: ["authbroker register", "authbroker register --email ann@example.com --name Ann"])

  /// Asks for missing values and makes the account.
  static func run(_ context: Context) throws(CommandFailure) {
    let profile = try context.profile()
    var dialogue = LoginDialogue(context, try context.connect())
    // Before anything is typed: a profile that is not there, and what its provider wants.
    let session = context.canAsk ? try dialogue.survey(profile)?.session : nil
    if let session, ExitCode(session.state) == .success { Output.notice(LoginCommand.replacing(session)) }
    try dialogue.expectAbility(Register.self, of: profile)
    let rule = NewPasswordRule(session?.provider ?? "", hasSecondFactor: context.arguments.has("--phone"))
    let account = try NewAccount(context, passwordRule: rule)
    let result = try register(account, profile, &dialogue)
    if case .emailVerificationRequired = result.progress { OutboxNotice.tellOfToken(profile, &dialogue) }
    try dialogue.finish(result)
  }

  /// Has the account made, after a person's corrections.
  private static func register(
    _ first: NewAccount, _ profile: ProfileName?, _ dialogue: inout LoginDialogue
  ) throws(CommandFailure) -> LoginResult {
    try Correction.repeated(first) { account throws(CommandFailure) in
      let params = Register.Params(
        profile: profile, email: account.email, password: account.password, name: account.name,
        phoneNumber: account.phoneNumber)
      return try dialogue.begin(Register.self, params, undoing: .registration)
    } correct: { account, failure throws(CommandFailure) in
      try account.correct(dialogue.explained(failure))
    }
  }
}
