import BrokerProtocol

/// Says in plain words that the embedded provider does not have what a command line names.
enum UnknownUser {
  /// The failure of a call that named an account, a session or both.
  ///
  /// - Parameters:
  ///   - failure: the failure.
  ///   - user: the account that was named; nil where none was.
  ///   - session: the session that was named; nil where none was.
  /// - Returns: the failure with a sentence about what is not there.
  static func explained(_ failure: CommandFailure, _ user: String?, session: String? = nil) -> CommandFailure {
    guard let error = failure.error, error.kind == .validationFailed, let fields = error.fields else { return failure }
    if let user, fields.contains("user") {
      return failure.saying(
        Message(
          "no account here has the identifier or address \(user.shellQuoted)",
          next: NextCommand("see", "local", "users")))
    }
    guard let session, fields.contains("session") else { return failure }
    return failure.saying(
      Message("there is no such session: \(session.shellQuoted)", next: NextCommand("see", "local", "sessions")))
  }
}
