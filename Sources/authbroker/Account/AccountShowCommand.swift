import BrokerProtocol

/// `authbroker account show`.
enum AccountShowCommand: Command {
  /// How the help explains it.
  static let description = CommandDescription(
    name: "account show",
    summary: "Show what the provider knows of the account",
    examples: ["authbroker account show", "authbroker account show --json"])

  /// Asks the provider, not the cache.
  static func run(_ context: Context) throws(CommandFailure) {
    try context.expectOperands(0...0, of: self)
    let params = GetCurrentUser.Params(profile: try context.arguments.profile(), maxAge: .zero)
    guard let user = try context.ask(GetCurrentUser.self, params) else { return }
    AccountLines.print(user)
  }
}
