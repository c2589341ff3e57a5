import BrokerProtocol
import StateDirectory

/// Where profiles stand, for people.
enum SessionTable {
  /// The sessions of a profile; nil means all of them.
  ///
  /// - Throws: a usage failure if there is no such profile.
  static func sessions(_ all: [Session], of profile: ProfileName?) throws(CommandFailure) -> [Session] {
    guard let profile else { return all }
    guard let session = all.first(where: { $0.profile == profile }) else {
      throw .usage(
        "unknown profile \(profile)", next: NextCommand("see", "config", "check"))
    }
    return [session]
  }

  /// Prints one line for each session.
  static func print(_ sessions: [Session], _ style: Style) {
    var table = TextTable("PROFILE", "STATE", "PROVIDER", "ACCOUNT", "TOKEN EXPIRES")
    for session in sessions {
      let account = session.user?.email ?? session.userID ?? "-"
      table.add(
        session.profile.description, session.state.rawValue, PlainText.line(session.provider.utf8),
        PlainText.line(account.utf8), session.accessTokenExpiresAt.map { LocalTime.relative($0) })
    }
    table.print(style) { line, cells in
      let isUsable = ExitCode(sessions[line].state) == .success
      cells[1] = isUsable ? style.good(cells[1]) : style.warning(cells[1])
    }
  }
}
