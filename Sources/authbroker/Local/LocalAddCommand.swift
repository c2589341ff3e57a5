import BrokerProtocol
import StateDirectory

/// `authbroker local add`.
enum LocalAddCommand: Command {
  /// How the help explains it.
  static let description = CommandDescription(
    name: "local add",
    summary: "Create an account without a login",
    details: "Asks for what is not given, the password twice and without echo.",
    options: NewAccount.options)

  /// How it is called where there is no account yet.
  static let next = NextCommand("create one with", "local", "add")

  /// Asks for what is missing, and makes the account.
  static func run(_ context: Context) throws(CommandFailure) {
    try context.expectOperands(0...0, of: self)
    let email = try NewAccount.address(context)
    let phone = context.arguments["--phone"]
    let hint = RefusedFields.passwordHint(EmbeddedProvider.type, hasSecondFactor: phone != nil)
    let password = try PasswordSource.new(context, hint: hint)
    let params = AddLocalUser.Params(
      email: email, password: password, name: context.arguments["--name"], phoneNumber: phone)
    let user: LocalUser?
    do throws(CommandFailure) { user = try context.ask(AddLocalUser.self, params) } catch {
      throw explained(error)
    }
    guard let user else { return }
    Output.message("created the account \(PlainText.line(user.email.utf8)) (\(PlainText.line(user.id.utf8)))")
  }

  private static func explained(_ failure: CommandFailure) -> CommandFailure {
    var failure = failure
    if let error = failure.error, let sentence = RefusedFields.sentence(error, EmbeddedProvider.type) {
      failure.message = Message(sentence)
    }
    return failure
  }
}
