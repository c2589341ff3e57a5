import BrokerProtocol

/// `authbroker account password`.
enum AccountPasswordCommand: Command {
  /// How the help explains it.
  static let description = CommandDescription(
    name: "account password",
    summary: "Change the password of the account",
    details: "Asks for the present password, and for the new one twice, without echo. The session continues.",
    options: PasswordSource.changeOptions)

  /// Asks for both passwords; for the present one again, where it is wrong.
  static func run(_ context: Context) throws(CommandFailure) {
    try context.expectOperands(0...0, of: self)
    let profile = try context.arguments.profile()
    var dialogue = LoginDialogue(context, try context.connect())
    try dialogue.expectAbility(ChangePassword.self, of: profile)
    let hint = try dialogue.passwordHint(profile)
    var present = try PasswordSource.password(context, question: "Present password")
    let new = try PasswordSource.new(
      context, question: "New password", hint: hint, command: "--new-password-command")
    var tries = PasswordTries(context)
    while true {
      do throws(CommandFailure) {
        let params = ChangePassword.Params(profile: profile, oldPassword: present, newPassword: new)
        _ = try dialogue.change(ChangePassword.self, params, of: profile)
        break
      } catch { try tries.note(error) }
      present = try PasswordSource.password(context, question: "Present password")
    }
    if context.wantsJSON { context.printJSON(Empty()) } else { Output.message("the password is changed") }
  }
}
