import BrokerProtocol
import StateDirectory

/// `authbroker local sessions`.
enum LocalSessionsCommand: Command {
  static let name = "local sessions"
  /// How the help explains it.
  static let description = CommandDescription(
    name: name,
    operands: "[USER]",
    summary: "List the provider's sessions, of all accounts or of one",
    details: "These are the sessions as the provider knows them: those of other brokers and clients are among them.",
    examples: ["authbroker local sessions", "authbroker local sessions ann@example.com"])

  /// Asks for the sessions and prints them.
  static func run(_ context: Context) throws(CommandFailure) {
    try context.expectOperands(0...1, of: self)
    let user = context.arguments.operands.first
    let sessions: [LocalSession]?
    do throws(CommandFailure) {
      sessions = try context.ask(ListLocalSessions.self, .init(user: user))?.sessions
    } catch { throw UnknownUser.explained(error, user) }
    guard let sessions else { return }
    guard !sessions.isEmpty else { return Output.notice("no session can be refreshed") }
    let addresses = try addresses(context)
    var table = TextTable("ACCOUNT", "BEGAN", "LAST USED", "EXPIRES", "PROVEN BY", "ID")
    for session in sessions {
      let account = addresses[session.user] ?? session.user
      let methods = session.methods.joined(separator: " ")
      table.add(
        PlainText.line(account.utf8), LocalTime.clock(session.createdAt), LocalTime.clock(session.lastUsedAt),
        LocalTime.relative(session.expiresAt), methods.isEmpty ? nil : PlainText.line(methods.utf8),
        PlainText.line(session.id.utf8))
    }
    table.print(context.style)
  }

  /// The addresses of the accounts by their identifiers.
  private static func addresses(_ context: Context) throws(CommandFailure) -> [String: String] {
    var connection = try context.connect()
    let users = try context.call(ListLocalUsers.self, Empty(), on: &connection).users
    var addresses: [String: String] = [:]
    for user in users { addresses[user.id] = addresses[user.id] ?? user.email }
    return addresses
  }
}
