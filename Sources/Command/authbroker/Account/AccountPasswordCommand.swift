import BrokerProtocol
import SecretMemory

/// `authbroker account password`.
enum AccountPasswordCommand: Command {
  static let name = "account password"
  static let about = CommandDescription(
    summary: "Change the password of the account",
    details: """
      Asks for the present password, and for the new one twice, without echo. At a terminal, the one that is not taken
      is asked for again. The session continues.
      """,
    options: PasswordSource.changeOptions,
    examples: ["authbroker account password"])

  /// Asks for both passwords, and changes the one to the other.
  static func run(_ context: Context) throws(CommandFailure) {
    var dialogue = try LoginDialogue.about(ChangePassword.self, context, needsLogin: true)
    let profile = try context.profile()
    let rule = try dialogue.ownPasswordRule(profile)
    let present = try askForPresent(context)
    let new = try askForNew(context, rule)
    try change(.init(profile: profile, oldPassword: present, newPassword: new), &dialogue, rule)
    context.finish("the password is changed")
  }

  /// Changes the password; asks again for the present one where it is wrong, and for the new one where it is refused.
  private static func change(
    _ first: ChangePassword.Params, _ dialogue: inout LoginDialogue, _ rule: NewPasswordRule
  ) throws(CommandFailure) {
    let context = dialogue.context
    var tries = PasswordTries(context)
    _ = try Correction.repeated(first) { params throws(CommandFailure) in
      try dialogue.change(ChangePassword.self, params, of: params.profile)
    } correct: { params, failure throws(CommandFailure) in
      if failure.error?.kind == .validationFailed {
        _ = try Correction.refused(
          by: failure, among: ["newPassword"], context,
          isTyped: PasswordSource.asks(context, command: PasswordSource.newOption.name))
        params.newPassword = try askForNew(context, rule)
      } else {
        try tries.note(failure)
        params.oldPassword = try askForPresent(context)
      }
    }
  }

  private static func askForPresent(_ context: Context) throws(CommandFailure) -> Secret {
    try PasswordSource.password(context, question: "Present password")
  }

  private static func askForNew(_ context: Context, _ rule: NewPasswordRule) throws(CommandFailure) -> Secret {
    try PasswordSource.new(
      context, question: "New password", rule: rule, command: PasswordSource.newOption.name)
  }
}
