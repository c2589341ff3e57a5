import BrokerProtocol
import SecretMemory
import StateDirectory

/// `authbroker local outbox`.
enum LocalOutboxCommand: Command {
  static let name = "local outbox"
  /// How the help explains it.
  static let description = CommandDescription(
    name: name,
    summary: "Show the messages that the provider has sent nowhere",
    details: """
      They stand in for a telephone and a mailbox, unless local.delivery in the configuration says how messages are sent.
      A message is removed once its code was used or has expired.
      """,
    examples: ["authbroker local outbox"])

  /// Asks for the messages and prints them, the newest last.
  static func run(_ context: Context) throws(CommandFailure) {
    try context.expectOperands(0...0, of: self)
    guard let messages = try context.ask(ListLocalMessages.self, Empty())?.messages else { return }
    guard !messages.isEmpty else { return Output.notice("the outbox is empty") }
    for (index, message) in messages.enumerated() {
      if index > 0 { Output.line("") }
      print(message, context.style)
    }
  }

  private static func print(_ message: LocalMessage, _ style: Style) {
    let way = message.method == .sms ? "SMS" : "e-mail"
    let recipient = PlainText.line(message.recipient.utf8)
    let expiry = "expires \(LocalTime.relative(message.expiresAt))"
    Output.line(
      style.dim("\(message.number)  \(way) to \(recipient), \(LocalTime.clock(message.createdAt)), \(expiry)"))
    let body = message.body.revealedString() ?? ""
    for line in body.split(separator: "\n", omittingEmptySubsequences: false) {
      Output.line(PlainText.line(line.utf8))
    }
  }
}
