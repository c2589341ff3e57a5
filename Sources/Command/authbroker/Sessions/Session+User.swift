import BrokerProtocol
import StateDirectory

extension Session {
  /// The session's user, as ` as ann@example.com` or ` as user 1`; empty where the provider does not say.
  var userWords: String { userName.map { " as " + $0 } ?? "" }

  /// The session's user, as `ann@example.com` or `user 1`; nil where the provider does not say.
  var userName: String? {
    if let name = user?.email ?? user?.name, !name.isEmpty { return PlainText.line(name.utf8) }
    guard let userID, !userID.isEmpty else { return nil }
    return "user " + PlainText.line(userID.utf8)
  }

  /// The message about a session that a login has replaced, where it was certainly another user's; nil elsewhere.
  func otherUser(than session: Session) -> String? {
    guard ExitCode(state) == .success, let own = user?.id ?? userID, let other = session.user?.id ?? session.userID,
      own != other, let userName
    else { return nil }
    return "this is another user than before: the session was \(userName)'s"
  }
}
