import BrokerProtocol
import StateDirectory

/// `authbroker local users`.
enum LocalUsersCommand: Command {
  static let name = "local users"
  /// How the help explains it.
  static let description = CommandDescription(
    name: name,
    summary: "List the accounts",
    examples: ["authbroker local users"])

  /// Asks for the accounts and prints them.
  static func run(_ context: Context) throws(CommandFailure) {
    try context.expectOperands(0...0, of: self)
    guard let users = try context.ask(ListLocalUsers.self, Empty())?.users else { return }
    guard !users.isEmpty else { return context.tell(Message("no account exists here yet", next: LocalAddCommand.next)) }
    var table = TextTable("EMAIL", "NAME", "PHONE", "SECOND FACTOR", "STATE", "SESSIONS", "ID")
    for user in users {
      table.add(
        PlainText.line(user.email.utf8) + (user.emailVerified ? "" : " (not verified)"),
        user.name.map { PlainText.line($0.utf8) }, user.phoneNumberMasked.map { PlainText.line($0.utf8) },
        user.twoFactor.rawValue, user.isDisabled ? "disabled" : "enabled", String(user.sessionCount),
        PlainText.line(user.id.utf8))
    }
    table.print(context.style) { line, cells in
      if users[line].isDisabled { cells[4] = context.style.warning(cells[4]) }
    }
  }
}
