import AuthBrokerClient
import BrokerProtocol

/// `authbroker sessions`.
enum SessionsCommand: Command {
  /// How the help explains it.
  static let description = CommandDescription(
    name: "sessions",
    summary: "List where every profile stands")

  /// Asks for the sessions and prints them.
  static func run(_ context: Context) throws(CommandFailure) {
    try context.expectOperands(0...0, of: self)
    let profile = try context.arguments.profile()
    guard let result = try context.ask(ListSessions.self, Empty()) else { return }
    SessionTable.print(result.sessions.filter { profile == nil || $0.profile == profile }, context.style)
  }
}
