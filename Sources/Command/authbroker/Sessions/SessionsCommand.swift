import AuthBrokerClient
import BrokerProtocol
import JSON

/// `authbroker sessions`.
enum SessionsCommand: Command {
  static let name = "sessions"
  static let about = CommandDescription(
    summary: "List the sessions of all profiles",
    examples: ["authbroker sessions", "authbroker sessions --json"])

  /// Asks for the sessions and prints them.
  static func run(_ context: Context) throws(CommandFailure) {
    let profile = try context.arguments.profile()
    var connection = try context.connect()
    let text = try context.text(of: ListSessions.name, Empty(), on: &connection)
    guard let root = try? JSONDocument(parsing: text).root,
      let all = try? ListSessions.Result(from: root).sessions
    else {
      throw CommandFailure(.failure, "the broker's answer is not what was expected")
    }
    let sessions = try SessionTable.sessions(all, of: profile)
    guard !context.wantsJSON else { return Output.json(SessionTable.narrowed(root, lists: "sessions", to: profile)) }
    SessionTable.print(sessions, context.style)
    SessionNotices.print(sessions, context)
    OfflineSessions.print(sessions, context, on: &connection)
    PendingLogins.print(of: sessions.map { $0.profile }, context, on: &connection)
    if let hint = FirstAccount.hint(sessions, context, on: &connection) { context.notice(hint) }
  }
}
