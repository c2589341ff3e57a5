import AuthBrokerClient
import BrokerProtocol

/// Tells where a code lies that the embedded provider did not send, since its messages stay in the outbox.
enum OutboxNotice {
  private static let command = NextCommand("show it with", "local", "outbox")

  /// Says so of the code of a login, if the caller may read the outbox; nothing where it was sent, or lies elsewhere.
  static func tell(of challenge: OTPChallenge, _ context: Context, on connection: inout BlockingConnection) {
    guard challenge.method != .totp, isEmbedded(challenge.profile, context, on: &connection) else { return }
    // Only who has the state directory is answered: for others there is nothing to be seen.
    guard let outbox = try? context.call(ListLocalMessages.self, Empty(), on: &connection),
      outbox.messages.contains(where: { $0.code != nil && $0.method == challenge.method })
    else { return }
    context.tell(Message("the code lies in the outbox of the embedded provider", next: command))
  }

  /// Says where the token of an e-mail may lie; nothing where another provider has sent it.
  ///
  /// Whether one lies there is not looked up: who merely has an address does not learn that it has an account.
  static func tellOfToken(_ profile: ProfileName?, _ dialogue: inout LoginDialogue) {
    guard (try? dialogue.session(of: profile).provider) == EmbeddedProvider.type else { return }
    dialogue.context.tell(
      Message("where local.delivery does not send it, the token lies in the outbox", next: command))
  }

  private static func isEmbedded(
    _ profile: ProfileName, _ context: Context, on connection: inout BlockingConnection
  ) -> Bool {
    let answer = try? context.call(GetSession.self, .init(profile: profile), on: &connection)
    return answer?.session.provider == EmbeddedProvider.type
  }
}
