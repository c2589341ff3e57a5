import BrokerProtocol
import SecretMemory

/// `authbroker account reset`.
enum AccountResetCommand: Command {
  static let name = "account reset"
  static let about = CommandDescription(
    summary: "Set a new password with the token of a message",
    details: """
      Asks for the token that `authbroker account forgot` has sent for, and for the new password twice, without echo.
      At a terminal, a password that is not taken is asked for again. With both --token-stdin and --password-stdin, the
      token is the first line of standard input.
      """,
    options: [SecretInput.tokenOption] + PasswordSource.options,
    examples: ["authbroker account reset"])

  /// Asks for the token and the password.
  static func run(_ context: Context) throws(CommandFailure) {
    var dialogue = try LoginDialogue.about(ResetPassword.self, context)
    let profile = try context.profile()
    let rule = try dialogue.passwordRule(profile)
    let token = try SecretInput.token(context)
    let password = try askForNew(context, rule)
    try reset(.init(profile: profile, token: token, password: password), &dialogue, rule)
    context.finish("the password is set", next: NextCommand("log in with", "login").on(profile))
  }

  /// Sets the password, and asks for another one where it is refused: the token stays good.
  private static func reset(
    _ first: ResetPassword.Params, _ dialogue: inout LoginDialogue, _ rule: NewPasswordRule
  ) throws(CommandFailure) {
    let context = dialogue.context
    _ = try Correction.repeated(first) { params throws(CommandFailure) in
      try dialogue.change(ResetPassword.self, params, of: params.profile)
    } correct: { params, failure throws(CommandFailure) in
      _ = try Correction.refused(
        by: failure, among: ["password"], context, isTyped: PasswordSource.asks(context))
      params.password = try askForNew(context, rule)
    }
  }

  private static func askForNew(_ context: Context, _ rule: NewPasswordRule) throws(CommandFailure) -> Secret {
    try PasswordSource.new(context, question: "New password", rule: rule)
  }
}
