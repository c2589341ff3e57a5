import BrokerProtocol

/// `token --min-session`: whether the session itself lasts long enough, for work that no login may interrupt.
enum SessionEnd {
  /// Asks for it.
  static let option = Option.value(
    "--min-session", "SECONDS", "fail with 3 where the session ends sooner, if that is known")

  /// Checks it, where the command line asks; a refresh that a token has just brought is taken into account.
  ///
  /// - Throws: a failure with code 3 for a session whose known end comes sooner.
  static func check(of profile: @autoclosure () -> ProfileName?, _ context: Context) throws(CommandFailure) {
    guard let least = try context.arguments.seconds(option.name) else { return }
    var connection = try context.connect()
    let found = try context.call(GetSession.self, GetSession.Params(profile: profile()), on: &connection)
    let session = found.session
    guard let end = end(of: found), end - LocalTime.now < least else { return }
    let wanted = "\(option.name) \((context.arguments[option.name] ?? "").shellQuoted)"
    let verb = end > LocalTime.now ? "ends" : "has ended"
    throw CommandFailure(
      .loginRequired,
      "the session of \(session.profile) \(verb) \(LocalTime.relative(end)), sooner than \(wanted) allows",
      next: NextCommand("begin a new one with", "login").on(session.profile))
  }

  /// When a session ends, as far as is known: nil where it is not, and where tokens need no user, who else would log in.
  static func end(of found: GetSession.Result) -> Timestamp? {
    let session = found.session
    if session.refreshTokenPresent || session.refreshTokenExpiresAt != nil { return session.refreshTokenExpiresAt }
    let isClientsOwn = session.userID == nil && found.login.contains { $0.method == .clientCredentials }
    return found.login.isEmpty || isClientsOwn ? nil : session.accessTokenExpiresAt
  }
}
