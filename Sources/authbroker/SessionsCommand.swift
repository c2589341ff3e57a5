import AuthBrokerClient
import BrokerProtocol

/// `authbroker sessions`.
enum SessionsCommand: Command {
  static let name = "sessions"
  /// How the help explains it.
  static let description = CommandDescription(
    name: name,
    summary: "List the sessions of all profiles",
    examples: ["authbroker sessions", "authbroker sessions --json"])

  /// Asks for the sessions and prints them.
  static func run(_ context: Context) throws(CommandFailure) {
    try context.expectOperands(0...0, of: self)
    let profile = try context.arguments.profile()
    guard !context.wantsJSON else {
      _ = try context.ask(ListSessions.self, Empty())
      return
    }
    var connection = try context.connect()
    let all = try context.call(ListSessions.self, Empty(), on: &connection).sessions
    let sessions = try SessionTable.sessions(all, of: profile)
    SessionTable.print(sessions, context.style)
    SessionNotices.print(sessions, context)
    OfflineSessions.print(sessions, context, on: &connection)
    PendingLogins.print(of: sessions.map { $0.profile }, context, on: &connection)
    if let hint = FirstAccount.hint(sessions, context, on: &connection) { context.notice(hint) }
  }
}
