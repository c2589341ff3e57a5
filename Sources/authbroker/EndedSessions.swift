import BrokerProtocol
import StateDirectory

/// Tells why sessions need a login.
enum EndedSessions {
  /// Prints a line for each session that has ended, with the command that begins another; nothing where none has.
  static func print(_ sessions: [Session], _ context: Context) {
    for session in sessions {
      guard let text = message(for: session)?.text(for: context.arguments) else { continue }
      Output.line("\(session.profile): \(context.style.warning(text))")
    }
  }

  /// Why a session needs a login, and the command; nil where it needs none.
  static func message(for session: Session) -> Message? {
    guard let reason = session.loginRequiredReason else { return nil }
    let sentence = session.loginRequiredMessage ?? sentence(reason)
    return Message(BrokerSentence.plain(sentence), next: NextCommand("log in with", "login").on(session.profile))
  }

  private static func sentence(_ reason: String) -> String {
    if let reason = SessionExpiredEvent.Reason(rawValue: reason) { return reason.sentence }
    return switch ErrorKind(rawValue: reason) {
    case .reauthRequired: "The provider requires the user to authenticate again."
    case .vaultTampered: "The stored session has been modified."
    // A reason that is not known yet is told as it is.
    default: "The session has ended (\(PlainText.line(reason.utf8)))."
    }
  }
}
