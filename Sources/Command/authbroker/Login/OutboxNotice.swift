import BrokerProtocol

/// Codes and tokens that the embedded provider may not have sent, since its messages stay in the outbox.
enum OutboxNotice {
  /// The command that shows them.
  static let command = NextCommand("show it with", "local", "outbox")

  /// Says where the token of an e-mail may lie; nothing where another provider has sent it.
  ///
  /// Whether one lies there is not looked up: who merely has an address does not learn that it has an account.
  static func tellOfToken(_ profile: ProfileName?, _ dialogue: inout LoginDialogue) {
    guard dialogue.isEmbedded(profile) else { return }
    dialogue.context.tell(
      Message("where local.delivery does not send it, the token lies in the outbox", next: command))
  }
}
