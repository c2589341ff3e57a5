import AuthBrokerClient
import BrokerProtocol

/// `authbroker logout`.
enum LogoutCommand: Command {
  static let name = "logout"
  static let about = CommandDescription(
    summary: "Sign out here and revoke the session at its provider",
    options: [
      .flag("--everywhere", "revoke the account's other sessions at the provider too"),
      .flag("--all", "sign out of every profile"),
    ],
    examples: ["authbroker logout", "authbroker logout -p work --everywhere", "authbroker logout --all"])

  /// Ends the sessions and says what their providers did.
  static func run(_ context: Context) throws(CommandFailure) {
    guard try context.arguments.profile() == nil || !context.arguments.has("--all") else {
      throw .usage("--all is for every profile; leave --profile out")
    }
    let profile = context.arguments.has("--all") ? nil : try context.profile()
    let params = Logout.Params(
      profile: profile, everywhere: context.arguments.has("--everywhere"),
      all: context.arguments.has("--all"))
    guard !context.wantsJSON else {
      _ = try context.ask(Logout.self, params)
      return
    }
    var connection = try context.connect()
    let before = try context.call(ListSessions.self, Empty(), on: &connection).sessions
    var states: [ProfileName: Session.State] = [:]
    for session in before { states[session.profile] = states[session.profile] ?? session.state }
    for outcome in try context.call(Logout.self, params, on: &connection).results {
      Output.notice("\(outcome.profile): \(sentence(outcome, states[outcome.profile]))")
    }
    let meant = before.filter { profile == nil || $0.profile == profile }
    if let hint = FirstAccount.hint(meant, context, on: &connection) { context.notice(hint) }
  }

  /// The message about a logout, by the state that the session was in.
  private static func sentence(_ outcome: LogoutOutcome, _ state: Session.State?) -> String {
    switch (state, outcome.serverRevoked) {
    case (.signedOut, .no): "not logged in"
    case (.challengePending, .no): "the pending login was cancelled"
    case (.expired, .no): "the session had expired already; it was removed here"
    default: "signed out here; \(sentence(outcome))"
    }
  }

  private static func sentence(_ outcome: LogoutOutcome) -> String {
    switch outcome.serverRevoked {
    case .yes: "the provider revoked the session"
    case .no: "the provider did not revoke the session"
    case .pending: "the provider has not answered yet, revocation is retried for a day"
    case .unsupported: "the provider has no way to revoke a session"
    }
  }
}
