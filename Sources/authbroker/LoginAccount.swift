import BrokerProtocol

/// The name by which a provider knows the account of a login with a password.
enum LoginAccount {
  /// Takes it from the options, or asks for what the login takes.
  ///
  /// - Parameters:
  ///   - context: the command line.
  ///   - email: the account's address, where the login takes one.
  ///   - phoneNumber: its phone number, where the login takes one.
  ///   - form: what the login takes; asked for only where no option names an account.
  /// - Throws: a usage failure if no person can be asked.
  static func ask(
    _ context: Context, email: inout String?, phoneNumber: inout String?,
    form: () throws(CommandFailure) -> LoginForm
  ) throws(CommandFailure) {
    (email, phoneNumber) = (context.arguments["--email"], context.arguments["--phone"])
    guard email == nil, phoneNumber == nil else { return }
    let fields = try form().fields
    if fields.contains("phoneNumber") { phoneNumber = try Prompt.answer("--phone", "Phone number", context) }
    if fields.contains("email") { email = try Prompt.answer("--email", "E-mail address", context) }
  }
}
