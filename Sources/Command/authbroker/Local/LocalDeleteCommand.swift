import BrokerProtocol
import StateDirectory

/// `authbroker local delete`.
enum LocalDeleteCommand: Command {
  static let name = "local delete"
  private static let confirmation = Option.flag("--yes", "delete it without a question")
  /// How the help explains it.
  static let description = CommandDescription(
    name: name, operands: "USER", summary: "Delete an account, its sessions and its messages",
    details: """
      Nothing brings the account back; its records in the audit log stay. At a terminal this is asked first; elsewhere
      --yes is needed.
      """,
    options: [confirmation],
    examples: ["authbroker local delete ann@example.com", "authbroker local delete --yes ann@example.com"])

  /// Deletes the account.
  static func run(_ context: Context) throws(CommandFailure) {
    try context.expectOperands(1...1, of: self)
    let name = context.arguments.operands[0]
    if !context.arguments.has(confirmation.name) {
      guard context.canAsk else { throw .usage("there is no terminal to ask at; give \(confirmation.name)") }
      let question = "Delete the account \(name.shellQuoted), its sessions and its messages, for good? [y/N]"
      guard ["y", "Y", "yes"].contains(try Prompt.askOnce(question)) else {
        throw CommandFailure(.failure, "nothing was deleted")
      }
    }
    do throws(CommandFailure) {
      guard try context.ask(DeleteLocalUser.self, .init(user: name)) != nil else { return }
    } catch { throw UnknownUser.explained(error, name) }
    Output.notice("the account \(PlainText.line(name.utf8)) is deleted")
  }
}
