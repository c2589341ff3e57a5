import BrokerProtocol
import StateDirectory

/// `authbroker local add`.
enum LocalAddCommand: Command {
  static let name = "local add"
  static let about = CommandDescription(
    summary: "Create an account without a login",
    details: """
      Asks for what is not given, the password twice and without echo. At a terminal, what the provider does not take is
      asked for again.
      """,
    options: NewAccount.options,
    examples: ["authbroker local add --email ann@example.com"])

  /// The command where there is no account yet.
  static let next = NextCommand("create one with", "local", "add")

  /// Asks for missing values, and makes the account.
  static func run(_ context: Context) throws(CommandFailure) {
    let rule = NewPasswordRule(EmbeddedProvider.type, hasSecondFactor: context.arguments.has("--phone"))
    guard let user = try add(try NewAccount(context, passwordRule: rule), context) else { return }
    Output.notice("created the account \(PlainText.line(user.email.utf8)) (\(PlainText.line(user.id.utf8)))")
  }

  /// Has the account made, after a person's corrections.
  ///
  /// - Returns: nil if it was printed as JSON.
  private static func add(_ first: NewAccount, _ context: Context) throws(CommandFailure) -> LocalUser? {
    try Correction.repeated(first) { account throws(CommandFailure) in
      let params = AddLocalUser.Params(
        email: account.email, password: account.password, name: account.name, phoneNumber: account.phoneNumber)
      return try context.ask(AddLocalUser.self, params)
    } correct: { account, failure throws(CommandFailure) in
      try account.correct(RefusedFields.explained(failure, EmbeddedProvider.type))
    }
  }
}
