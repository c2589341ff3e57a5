import SecretMemory

/// The account that a command makes, as its options and a person describe it.
struct NewAccount {
  /// The options of such a command.
  static let options: [Option] =
    [
      .value("--email", "ADDRESS", "the account's address"),
      .value("--name", "NAME", "the name to show"),
      .value("--phone", "NUMBER", "where one-time codes go, such as +4912345678"),
    ] + PasswordSource.options

  private static let addressQuestion = "E-mail address"

  /// The address.
  private(set) var email: String
  /// The password.
  private(set) var password: Secret
  /// The name to show.
  private(set) var name: String?
  /// The phone number for one-time codes.
  private(set) var phoneNumber: String?

  private let context: Context
  private let passwordRule: NewPasswordRule

  /// Asks for the values that the options do not give; the address is checked before anyone types a password twice.
  ///
  /// - Throws: a usage failure for an option's value that is no address, or if no person can be asked.
  init(_ context: Context, passwordRule: NewPasswordRule) throws(CommandFailure) {
    self.context = context
    self.passwordRule = passwordRule
    name = context.arguments["--name"]
    phoneNumber = context.arguments["--phone"]
    email = try Self.address(context)
    password = try PasswordSource.new(context, rule: passwordRule)
  }

  /// Lets the person at the terminal correct the values that the provider refuses.
  ///
  /// - Parameter failure: the refusal, in plain words.
  /// - Throws: the failure where it is another one, or no person can correct it.
  mutating func correct(_ failure: CommandFailure) throws(CommandFailure) {
    let refused = try Correction.refused(
      by: failure, among: ["email", "name", "phoneNumber", "password"], context, isTyped: PasswordSource.asks(context))
    if refused.contains("email") { email = try Self.typedAddress() }
    if refused.contains("name") { name = try Prompt.ask("Name") }
    if refused.contains("phoneNumber") { phoneNumber = try Prompt.ask("Phone number") }
    if refused.contains("password") { password = try PasswordSource.new(context, rule: passwordRule) }
  }

  private static func address(_ context: Context) throws(CommandFailure) -> String {
    let email = try Prompt.answer("--email", addressQuestion, context)
    if RefusedFields.isAddress(email) { return email }
    let message = RefusedFields.notAnAddress(email)
    guard context.arguments["--email"] == nil else { throw CommandFailure(.usage, message) }
    Output.message(message)
    return try typedAddress()
  }

  /// Asks until the answer can be an address.
  private static func typedAddress() throws(CommandFailure) -> String {
    while true {
      let email = try Prompt.ask(addressQuestion)
      if RefusedFields.isAddress(email) { return email }
      Output.message(RefusedFields.notAnAddress(email))
    }
  }
}
