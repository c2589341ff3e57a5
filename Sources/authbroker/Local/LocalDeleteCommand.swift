import BrokerProtocol
import StateDirectory

/// `authbroker local delete`.
enum LocalDeleteCommand: Command {
  static let name = "local delete"
  /// How the help explains it.
  static let description = CommandDescription(
    name: name, operands: "USER", summary: "Delete an account, its sessions and its messages",
    details: "Nothing brings the account back; its records in the audit log stay.",
    examples: ["authbroker local delete ann@example.com"])

  /// Deletes the account.
  static func run(_ context: Context) throws(CommandFailure) {
    try context.expectOperands(1...1, of: self)
    let name = context.arguments.operands[0]
    do throws(CommandFailure) {
      guard try context.ask(DeleteLocalUser.self, .init(user: name)) != nil else { return }
    } catch { throw UnknownUser.explained(error, name) }
    Output.notice("the account \(PlainText.line(name.utf8)) is deleted")
  }
}
