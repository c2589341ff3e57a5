import BrokerProtocol

/// `authbroker account show`.
enum AccountShowCommand: Command {
  static let name = "account show"
  /// How the help explains it.
  static let description = CommandDescription(
    name: name,
    summary: "Show what the provider knows of the account",
    examples: ["authbroker account show", "authbroker account show --json"])

  /// Asks the provider, not the cache.
  static func run(_ context: Context) throws(CommandFailure) {
    try context.expectOperands(0...0, of: self)
    let params = GetCurrentUser.Params(profile: try context.profile(), maxAge: .zero)
    guard let user = try context.ask(GetCurrentUser.self, params) else { return }
    AccountLines.print(user)
  }
}
