import BrokerProtocol
import StateDirectory

/// The sessions with all that is known of them, a paragraph for each.
enum SessionDetails {
  /// Prints a paragraph for each session: the account, the provider and its address, the client, the token, the session's own end
  /// and the scopes.
  static func print(_ sessions: [Session], _ addresses: [GetStatus.ProfileAddress], _ style: Style) {
    let width = sessions.map { $0.profile.description.count }.max() ?? 0
    for session in sessions {
      let words = session.isUsable ? style.good(session.words) : style.warning(session.words)
      Output.line(style.bold(session.profile.description.padded(to: width)) + "  " + words + session.userWords)
      let address = addresses.first { $0.profile == session.profile }?.address
      for (name, value) in rows(session, address) {
        Output.paragraph(value, behind: "  " + name.padded(to: 10))
      }
    }
  }

  /// The rows below a session's name.
  static func rows(
    _ session: Session, _ address: String?, now: Timestamp = LocalTime.now
  ) -> [(name: String, value: String)] {
    let provider = PlainText.line(session.provider.utf8)
    let place = address.map { PlainText.line($0.utf8) }
    let isLocal = session.provider == EmbeddedProvider.type
    var rows: [(name: String, value: String)] = []
    let named = isLocal ? "local, on this machine" : place.map { "\(provider), \($0)" } ?? provider
    rows.append(("provider", named))
    if session.isConfigured { return rows + [("token", "a secret of the configuration, without an expiry")] }
    guard ExitCode(session.state) == .success, !session.isUnread else { return rows }
    if let id = session.clientID, let issuer = session.issuer {
      rows.append(("client", "\(PlainText.line(id.utf8)) at \(PlainText.line(issuer.utf8))"))
    }
    rows.append(("token", token(session, now)))
    rows.append(("session", end(session, now)))
    let scopes = session.scopes.map { PlainText.line($0.utf8) }.joined(separator: ", ")
    if !scopes.isEmpty { rows.append(("scopes", scopes)) }
    return rows
  }

  private static func token(_ session: Session, _ now: Timestamp) -> String {
    guard let end = session.accessTokenExpiresAt else { return "its expiry is not known" }
    return expiry(end, now)
  }

  /// The end that the session itself has: what its refresh token may live to, and what is left of it without use.
  private static func end(_ session: Session, _ now: Timestamp) -> String {
    let own =
      if let end = session.refreshTokenExpiresAt {
        "its refresh token \(expiry(end, now))"
      } else if session.refreshTokenPresent {
        "is refreshed in time; its own expiry is not known"
      } else {
        "has no refresh token"
      }
    guard let unused = session.idleExpiresAt else { return own }
    return own + "; unused, it \(expiry(unused, now))"
  }

  private static func expiry(_ moment: Timestamp, _ now: Timestamp) -> String {
    (moment > now ? "expires " : "expired ") + LocalTime.relative(moment, now: now)
  }
}
