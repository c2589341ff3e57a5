import AuthBrokerClient
import BrokerProtocol

/// `authbroker logout`.
enum LogoutCommand: Command {
  /// How the help explains it.
  static let description = CommandDescription(
    name: "logout",
    summary: "End a session here and at its provider",
    options: [
      .flag("--everywhere", "end the account's other sessions at the provider too"),
      .flag("--all", "end the sessions of every profile"),
    ])

  /// Ends the sessions and says what their providers did.
  static func run(_ context: Context) throws(CommandFailure) {
    try context.expectOperands(0...0, of: self)
    let params = Logout.Params(
      profile: try context.arguments.profile(), everywhere: context.arguments.has("--everywhere"),
      all: context.arguments.has("--all"))
    guard let result = try context.ask(Logout.self, params) else { return }
    for outcome in result.results { Output.message("\(outcome.profile): logged out here; \(sentence(outcome))") }
  }

  private static func sentence(_ outcome: LogoutOutcome) -> String {
    switch outcome.serverRevoked {
    case .yes: "the provider has revoked the session."
    case .no: "the provider has not revoked the session."
    case .pending: "the provider has not answered yet and is asked again."
    case .unsupported: "the provider has no way to revoke a session."
    }
  }
}
