import AuthBrokerClient
import BrokerProtocol

/// Codes and tokens that the embedded provider did not send, since its messages stay in the outbox.
enum OutboxNotice {
  /// The command that shows them.
  static let command = NextCommand("show it with", "local", "outbox")

  /// Whether the code of a login lies there; false as well where the caller may not read the outbox.
  static func holdsCode(
    of challenge: OTPChallenge, _ context: Context, on connection: inout BlockingConnection
  ) -> Bool {
    guard challenge.method != .totp, isEmbedded(challenge.profile, context, on: &connection) else { return false }
    // Only who has the state directory is answered: for others there is nothing to be seen.
    let outbox = try? context.call(ListLocalMessages.self, Empty(), on: &connection)
    return outbox?.messages.contains { $0.code != nil && $0.method == challenge.method } ?? false
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
