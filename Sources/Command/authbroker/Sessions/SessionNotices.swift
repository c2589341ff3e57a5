import BrokerProtocol
import LinuxSystem
import StateDirectory

/// Tells what is wrong with sessions.
enum SessionNotices {
  /// Prints a line for each session that needs a login, or is not saved; nothing where there is none.
  static func print(_ sessions: [Session], _ context: Context) {
    for session in sessions {
      guard let message = message(for: session) else { continue }
      print(message, of: session.profile, context)
    }
  }

  /// Prints a message about a profile.
  static func print(_ message: Message, of profile: ProfileName, _ context: Context) {
    let prefix = "\(profile): "
    let text = message.shown(for: context.arguments, behind: prefix, columns: Terminal.columns(1))
    Output.paragraph(text, behind: prefix, indent: 2, marked: context.style.warning)
  }

  /// The message about a session that needs attention, with the command that helps; nil for any other.
  static func message(for session: Session) -> Message? {
    if session.storeDegraded == true { return Message(unsaved(session)) }
    guard let reason = session.loginRequiredReason else { return nil }
    let sentence = session.loginRequiredMessage ?? sentence(reason)
    return Message(BrokerSentence.plain(sentence), next: NextCommand("log in with", "login").on(session.profile))
  }

  /// The message about a session whose newest tokens are in memory only.
  static func unsaved(_ session: Session) -> String {
    "the newest tokens of \(session.profile) could not be saved and are in memory only: make room on the disk, and do not"
      + " stop the broker before they are saved"
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
