import AuthBrokerClient
import BrokerProtocol
import JSON
import StateDirectory

/// `authbroker profiles`.
enum ProfilesCommand: Command {
  static let name = "profiles"
  static let about = CommandDescription(
    summary: "List the configured profiles and how to log in to each",
    details: """
      A profile is an account at a provider, as the configuration names it. With --json one object: profiles, an array of
      objects with profile, provider, state, login (the methods, the usual one first) and, where an account is logged in,
      account.
      """,
    examples: ["authbroker profiles", "authbroker profiles --json"])

  /// Asks for the profiles and prints them.
  static func run(_ context: Context) throws(CommandFailure) {
    let profile = try context.arguments.profile()
    var connection = try context.connect()
    let broker = try context.call(Initialize.self, .init(), on: &connection)
    let sessions = try SessionTable.sessions(broker.sessions, of: profile)
    var rows: [(session: Session, methods: [LoginMethod])] = []
    for session in sessions {
      let description = broker.profiles.first { $0.profile == session.profile }
      rows.append((session, description.map { $0.login.map { $0.method } } ?? []))
    }
    guard !context.wantsJSON else {
      return context.printJSON("profiles", rows) { writer, row in
        writer.member("profile", row.session.profile.description)
        writer.member("provider", row.session.provider)
        writer.member("state", row.session.state.rawValue)
        writer.member(ifPresent: "account", account(row.session))
        writer.member("login", row.methods.map { $0.rawValue })
      }
    }
    var table = TextTable("PROFILE", "PROVIDER", "STATE", "ACCOUNT", "LOG IN BY")
    for (session, methods) in rows {
      // A refresh token is for programs.
      let ways = methods.filter { $0 != .refreshToken }.map { $0.rawValue }.joined(separator: ", ")
      table.add(
        session.profile.description, PlainText.line(session.provider.utf8), session.words,
        account(session).map { PlainText.line($0.utf8) }, ways.isEmpty ? nil : ways)
    }
    table.print(context.style)
    if let hint = FirstAccount.hint(sessions, context, on: &connection) { context.notice(hint) }
  }

  private static func account(_ session: Session) -> String? { session.user?.email ?? session.userID }
}
