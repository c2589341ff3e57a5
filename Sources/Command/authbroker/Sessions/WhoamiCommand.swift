import AuthBrokerClient
import BrokerProtocol
import JSON
import StateDirectory

/// `authbroker whoami`.
enum WhoamiCommand: Command {
  static let name = "whoami"
  static let about = CommandDescription(
    summary: "Print who is logged in",
    details: """
      One line for each profile that has a session, or for the one that --profile names: the account, the profile and
      its provider. Exit code 3 if no profile is, 7 if the vault is locked. With --json one object: users, an array
      of objects with profile, provider, state and, as far as they are known, userId, email and name.
      """,
    examples: ["authbroker whoami", "authbroker whoami -p work --json"])

  /// Asks for the sessions, and prints those of accounts that are logged in.
  static func run(_ context: Context) throws(CommandFailure) {
    let profile = try context.arguments.profile()
    var connection = try context.connect()
    let all = try context.call(ListSessions.self, Empty(), on: &connection).sessions
    let sessions = try SessionTable.sessions(all, of: profile)
    let users = sessions.filter { ExitCode($0.state) == .success && !$0.isConfigured }
    if context.wantsJSON {
      context.printJSON("users", users, write)
    } else {
      for session in users { Output.line(line(session)) }
    }
    guard users.isEmpty else { return }
    if sessions.contains(where: { $0.state == .locked }) {
      throw CommandFailure(.broker(BrokerError(.vaultLocked))).behindResult()
    }
    if context.wantsJSON { throw .quiet(.loginRequired) }
    if let only = sessions.first, sessions.count == 1, only.isConfigured {
      throw CommandFailure(
        .failure, "the token of \(only.profile) is a secret of the configuration; it is not known whose it is")
    }
    let single = sessions.count == 1 ? sessions[0].profile : profile
    throw CommandFailure(
      .loginRequired,
      FirstAccount.hint(sessions, context, on: &connection)
        ?? Message("not logged in", next: NextCommand("log in with", "login").on(single)))
  }

  private static func line(_ session: Session) -> String {
    let account = session.user?.email ?? session.user?.name ?? session.userID.map { "user \($0)" } ?? "a user"
    let offline = session.state == .offline ? ", offline" : ""
    let provider = PlainText.line(session.provider.utf8)
    return "\(PlainText.line(account.utf8)) (profile \(session.profile), provider \(provider)\(offline))"
  }

  private static func write(_ writer: inout JSONWriter, _ session: Session) {
    writer.member("profile", session.profile.description)
    writer.member("provider", session.provider)
    writer.member("state", session.state.rawValue)
    writer.member(ifPresent: "userId", session.userID ?? session.user?.id)
    writer.member(ifPresent: "email", session.user?.email)
    writer.member(ifPresent: "name", session.user?.name)
  }
}
