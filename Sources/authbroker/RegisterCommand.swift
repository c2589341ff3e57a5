import AuthBrokerClient
import BrokerProtocol

/// `authbroker register`.
enum RegisterCommand: Command {
  /// How the help explains it.
  static let description = CommandDescription(
    name: "register",
    summary: "Create an account at the profile's provider and log in",
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
    if let session = try context.sessionBeforeAsking(of: profile), ExitCode(session.state) == .success {
      Output.message(LoginCommand.replacing(session))
    }
    // Before anything is typed: a profile that is not there, and what its provider wants.
    let hint = context.canAsk ? try passwordHint(profile, context) : ""
    try expectAbility(of: profile, context)
    let email = try address(context)
    let password = try PasswordSource.password(context, isNew: true, hint: hint)
    var dialogue = LoginDialogue(context, try context.connect())
    let result: LoginResult
    do throws(CommandFailure) {
      result = try dialogue.begin(
        Register.self,
        .init(
          profile: profile, email: email, password: password, name: context.arguments["--name"],
          phoneNumber: context.arguments["--phone"]),
        undoing: .registration)
    } catch { throw explained(error, &dialogue) }
    try dialogue.finish(result)
  }

  /// The address, judged before anyone types a password twice; at a terminal it is asked for again.
  ///
  /// - Throws: a usage failure for an option's value that is no address.
  private static func address(_ context: Context) throws(CommandFailure) -> String {
    while true {
      let email = try Prompt.answer("--email", "E-mail address", context)
      if RefusedFields.isAddress(email) { return email }
      let message = "\(email.shellQuoted) is not an e-mail address; give one such as ann@example.com"
      guard context.arguments["--email"] == nil else { throw CommandFailure(.usage, message) }
      Output.message(message)
    }
  }

  /// Names the values that the provider does not take.
  private static func explained(_ failure: CommandFailure, _ dialogue: inout LoginDialogue) -> CommandFailure {
    guard let error = failure.error, error.kind == .validationFailed else { return failure }
    let provider = (try? dialogue.session(of: error.profile).provider) ?? ""
    var failure = failure
    if let sentence = RefusedFields.sentence(error, provider) { failure.message = Message(sentence) }
    return failure
  }

  private static func passwordHint(_ profile: ProfileName?, _ context: Context) throws(CommandFailure) -> String {
    var dialogue = LoginDialogue(context, try context.connect())
    let provider = try dialogue.session(of: profile).provider
    return RefusedFields.passwordHint(provider, hasPhone: context.arguments["--phone"] != nil)
  }
}
