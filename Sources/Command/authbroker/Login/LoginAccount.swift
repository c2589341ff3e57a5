import BrokerProtocol
import StateDirectory

/// The name by which a provider knows the account of a login with a password.
enum LoginAccount {
  /// Takes the account from the options, or asks for it as the login form demands.
  ///
  /// - Parameters:
  ///   - context: the command line.
  ///   - email: the account's address, where the login takes one.
  ///   - phoneNumber: its phone number, where the login takes one.
  ///   - form: what the login takes.
  /// - Throws: a usage failure if no person can be asked.
  static func ask(
    _ context: Context, email: inout String?, phoneNumber: inout String?, _ form: LoginForm
  ) throws(CommandFailure) {
    (email, phoneNumber) = (context.arguments["--email"], context.arguments["--phone"])
    guard email == nil, phoneNumber == nil else { return }
    if form.fields.contains("phoneNumber") { phoneNumber = try Prompt.answer("--phone", phoneQuestion, context) }
    if form.fields.contains("email") { email = try Prompt.answer("--email", addressQuestion, context) }
  }

  /// Asks again for the typed account, which may be mistaken; Enter keeps it.
  static func askAgain(
    _ context: Context, email: inout String?, phoneNumber: inout String?
  ) throws(CommandFailure) {
    guard !["--email", "--phone"].contains(where: context.arguments.has) else { return }
    if let present = phoneNumber { phoneNumber = try Prompt.ask(phoneQuestion, keeping: present) }
    guard let present = email else { return }
    while true {
      let answer = try Prompt.ask(addressQuestion, keeping: present)
      email = answer
      guard RefusedFields.isAddress(present), !RefusedFields.isAddress(answer) else { return }
      // It may be a password, and is not repeated.
      Output.message("that is no e-mail address; Enter keeps \(PlainText.line(present.utf8))")
    }
  }

  private static let addressQuestion = "E-mail address"
  private static let phoneQuestion = "Phone number"
}
