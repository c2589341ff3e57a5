import BrokerProtocol
import StateDirectory

extension Session {
  /// The session's user, as ` as ann@example.com` or ` as user 1`; empty where the provider does not say.
  var userWords: String {
    if let name = user?.email ?? user?.name, !name.isEmpty { return " as " + PlainText.line(name.utf8) }
    guard let userID, !userID.isEmpty else { return "" }
    return " as user " + PlainText.line(userID.utf8)
  }
}
