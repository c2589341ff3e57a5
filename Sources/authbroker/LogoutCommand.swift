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
    let profile = try context.arguments.profile()
    guard profile == nil || !context.arguments.has("--all") else {
      throw .usage("--all ends the sessions of every profile: leave --profile out.")
    }
    let params = Logout.Params(
      profile: profile, everywhere: context.arguments.has("--everywhere"),
      all: context.arguments.has("--all"))
    guard !context.wantsJSON else {
      _ = try context.ask(Logout.self, params)
      return
    }
    var connection = try context.connect()
    let before = try context.call(ListSessions.self, Empty(), on: &connection).sessions
    let states = Dictionary(before.map { ($0.profile, $0.state) }) { first, _ in first }
    for outcome in try context.call(Logout.self, params, on: &connection).results {
      Output.message("\(outcome.profile): \(sentence(outcome, states[outcome.profile]))")
    }
  }

  /// What has become of a session, told by the state that it was in.
  private static func sentence(_ outcome: LogoutOutcome, _ state: Session.State?) -> String {
    switch (state, outcome.serverRevoked) {
    case (.signedOut, .no): "nobody was logged in."
    case (.challengePending, .no): "the login that waited is called off."
    case (.expired, .no): "the session had ended already, and is forgotten here."
    default: "logged out here; \(sentence(outcome))"
    }
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
