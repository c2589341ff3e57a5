import AuthBrokerClient
import BrokerProtocol

/// Tells why sessions are offline.
enum OfflineSessions {
  /// Prints a line for each session that is offline; asks for nothing where none is.
  static func print(_ sessions: [Session], _ context: Context, on connection: inout BlockingConnection) {
    let offline = sessions.filter { $0.state == .offline }
    guard !offline.isEmpty else { return }
    let events = PastEvents.list(Outage.events, context, on: &connection)
    Output.line("")
    for session in offline {
      SessionNotices.print(message(for: session, events), of: session.profile, context)
    }
  }

  /// The message about one session, by the known events.
  static func message(for session: Session, _ events: [BrokerEvent]) -> Message {
    guard !session.isConfigured else {
      return Message(
        "its secret could not be read again, and the one that was read before is in use",
        next: NextCommand("see why with", "provider-check", session.profile.description))
    }
    guard !session.isUnread else {
      return Message(
        "the session was not read yet from the database of the fleet",
        next: NextCommand("see why with", "fleet", "status"))
    }
    return Outage(of: session.profile, in: events).message(for: session, at: LocalTime.now)
  }
}
