import BrokerProtocol

/// `authbroker local revoke`.
enum LocalRevokeCommand: Command {
  static let name = "local revoke"
  /// How the help explains it.
  static let description = CommandDescription(
    name: name,
    operands: "[USER]",
    summary: "Revoke one session at the provider, all of an account, or all there are",
    options: [
      .value("--session", "ID", "the session; all of the account where it is not given"),
      .flag("--all", "every session of every account, as after an incident"),
    ],
    examples: ["authbroker local revoke ann@example.com", "authbroker local revoke --all"])

  /// Revokes, and says how many sessions that was.
  static func run(_ context: Context) throws(CommandFailure) {
    try context.expectOperands(0...1, of: self)
    let (user, session) = (context.arguments.operands.first, context.arguments["--session"])
    let all = context.arguments.has("--all")
    guard user != nil || session != nil || all else {
      throw .usage("name an account, a session with --session, or every session with --all")
    }
    guard !all || (user == nil && session == nil) else { throw .usage("--all stands alone") }
    let result: RevokeLocalSessions.Result?
    do throws(CommandFailure) {
      result = try context.ask(RevokeLocalSessions.self, .init(user: user, session: session, all: all))
    } catch { throw UnknownUser.explained(error, user, session: session) }
    guard let count = result?.revoked else { return }
    Output.notice(count == 0 ? "there was no session to revoke" : "revoked \(count.counted("session"))")
  }
}
