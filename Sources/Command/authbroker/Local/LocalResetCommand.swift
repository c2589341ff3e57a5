import BrokerProtocol
import SecretMemory
import StateDirectory

/// `authbroker local reset`.
enum LocalResetCommand: Command {
  static let name = "local reset"
  private static let removal = Option.flag("--remove-second-factor", "remove the second factor and its backup codes")
  /// How the help explains it.
  static let description = CommandDescription(
    name: name,
    operands: "USER",
    summary: "Give an account a new password, or remove its second factor",
    details: """
      For a user who has lost them. Without --remove-second-factor the new password is asked for, twice and without
      echo. All sessions of the account end, and its user is told by e-mail.
      """,
    options: [removal] + PasswordSource.options,
    examples: [
      "authbroker local reset ann@example.com", "authbroker local reset ann@example.com --remove-second-factor",
    ])

  /// Resets what the options name.
  static func run(_ context: Context) throws(CommandFailure) {
    try context.expectOperands(1...1, of: self)
    let name = context.arguments.operands[0]
    let removesFactor = context.arguments.has(removal.name)
    let rule = NewPasswordRule(EmbeddedProvider.type, hasSecondFactor: false)
    let setsPassword = !removesFactor || PasswordSource.isGiven(context)
    let password = setsPassword ? try PasswordSource.new(context, question: "New password", rule: rule) : nil
    let user: LocalUser?
    do throws(CommandFailure) {
      user = try context.ask(
        ResetLocalUser.self, .init(user: name, password: password, removesSecondFactor: removesFactor))
    } catch {
      let isUnknown = error.error?.fields?.contains("user") == true
      throw isUnknown ? UnknownUser.explained(error, name) : RefusedFields.explained(error, EmbeddedProvider.type)
    }
    guard let user else { return }
    let what = [setsPassword ? "has a new password" : nil, removesFactor ? "has no second factor any more" : nil]
    let text = what.compactMap { $0 }.joined(separator: " and ")
    Output.notice("\(PlainText.line(user.email.utf8)) \(text); its sessions are revoked")
  }
}
