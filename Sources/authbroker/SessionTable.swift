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
    var rows = [["PROFILE", "STATE", "PROVIDER", "ACCOUNT", "TOKEN EXPIRES"]]
    for session in sessions {
      let account = session.user?.email ?? session.userID ?? "-"
      rows.append([
        session.profile.description, session.state.rawValue, PlainText.line(session.provider.utf8),
        PlainText.line(account.utf8), session.accessTokenExpiresAt.map { LocalTime.relative($0) } ?? "-",
      ])
    }
    let widths = rows[0].indices.map { column in rows.map { $0[column].count }.max() ?? 0 }
    for (index, row) in rows.enumerated() {
      let cells = zip(row, widths).map { $0.padded(to: $1) }
      let line = cells.joined(separator: "  ").trimmingEnd()
      Output.line(index == 0 ? style.dim(line) : colored(cells, sessions[index - 1], style).trimmingEnd())
    }
  }

  private static func colored(_ cells: [String], _ session: Session, _ style: Style) -> String {
    var cells = cells
    cells[1] = ExitCode(session.state) == .success ? style.good(cells[1]) : style.warning(cells[1])
    return cells.joined(separator: "  ")
  }
}
