import BrokerProtocol
import StateDirectory

/// The picture of `status --watch`: the broker's last answers, told as of now.
struct StatusScreen {
  /// The last status; nil until the first one has come.
  var status: GetStatus.Result?
  /// When it came.
  var answeredAt = Timestamp(milliseconds: 0)
  /// The pending logins.
  var logins: [PendingLoginStep] = []
  /// Why the answers may be out of date; nil while they are not.
  var trouble: String?
  /// The only profile that is shown; nil: all of them.
  var profile: ProfileName?

  private static let headings = ["PROFILE", "STATE", "EXPIRES IN", "REFRESHED"]

  /// The lines, none of which is wider than the terminal.
  func lines(at now: Timestamp, columns: Int) -> [ScreenLine] {
    var lines: [ScreenLine] = []
    if let trouble { lines += ScreenLine.wrapped(trouble, columns: columns, .warning) }
    guard let status else { return lines }
    lines = heading(status, at: now, columns: columns) + lines + [ScreenLine(text: "")]
    let sessions = status.profiles.filter { profile == nil || $0.profile == profile }
    lines += table(sessions, at: now, columns: columns)
    let notes = notes(sessions, at: now, columns: columns)
    return notes.isEmpty ? lines : lines + [ScreenLine(text: "")] + notes
  }

  private func heading(_ status: GetStatus.Result, at now: Timestamp, columns: Int) -> [ScreenLine] {
    let uptime = trouble == nil ? status.uptime + max(.zero, now - answeredAt) : status.uptime
    let vault = status.vault.locked ? status.vault.isInitialized ? "locked" : "new, locked" : "open"
    let broker = "broker \(PlainText.line(status.version.utf8)), pid \(status.pid), up \(uptime.inWords)"
    let clients = "\(status.connections.counted("client")), \(status.subscriptions.counted("subscription"))"
    let time = LocalTime.full(now).split(separator: " ").last ?? ""
    return ScreenLine.wrapped("\(time)  \(broker)", columns: columns, .heading)
      + ScreenLine.wrapped("vault \(vault); \(clients)", columns: columns, status.vault.locked ? .warning : .plain)
  }

  private func table(_ sessions: [Session], at now: Timestamp, columns: Int) -> [ScreenLine] {
    guard !sessions.isEmpty else { return [ScreenLine(text: "no profile is configured")] }
    let rows = sessions.map { session in
      let expiry = session.accessTokenExpiresAt.map { $0 > now ? Countdown.text($0 - now) : "expired" }
      let refreshed = session.lastRefreshAt.map { Countdown.text(now - $0) + " ago" }
      return [session.profile.description, session.words, expiry ?? "-", refreshed ?? "-"]
    }
    let widths = Self.headings.indices.map { column in
      ([Self.headings] + rows).map { $0[column].count }.max() ?? 0
    }
    guard widths.reduce(2 * (widths.count - 1), +) <= columns else {
      return zip(sessions, rows).flatMap { session, row in stacked(session, row, columns) }
    }
    func line(_ cells: [String]) -> String {
      zip(cells, widths).map { $0.padded(to: $1) }.joined(separator: "  ").trimmingEnd()
    }
    return [ScreenLine(text: line(Self.headings), mark: .dim)]
      + zip(sessions, rows).map { ScreenLine(text: line($1), mark: mark($0)) }
  }

  /// A session in two lines, where the terminal is narrower than the table.
  private func stacked(_ session: Session, _ row: [String], _ columns: Int) -> [ScreenLine] {
    let expiry = row[2] == "-" ? nil : row[2] == "expired" ? "expired" : "expires in \(row[2])"
    let times = [expiry, row[3] == "-" ? nil : "refreshed \(row[3])"].compactMap { $0 }.joined(separator: ", ")
    return ScreenLine.wrapped("\(row[0])  \(row[1])", columns: columns, mark(session))
      + (times.isEmpty ? [] : ScreenLine.wrapped(times, behind: "  ", columns: columns))
  }

  private func mark(_ session: Session) -> ScreenLine.Mark {
    session.isUsable && session.state != .offline ? .plain : .warning
  }

  private func notes(_ sessions: [Session], at now: Timestamp, columns: Int) -> [ScreenLine] {
    let waiting = logins.filter { profile == nil || $0.profile == profile }.flatMap { step in
      ScreenLine.wrapped(Self.text(of: step, at: now), behind: "\(step.profile): ", columns: columns)
    }
    return waiting
      + sessions.flatMap { session in
        guard let text = SessionNotices.message(for: session)?.sentence else { return [ScreenLine]() }
        return ScreenLine.wrapped(text, behind: "\(session.profile): ", columns: columns, .warning)
      }
  }

  private static func text(of step: PendingLoginStep, at now: Timestamp) -> String {
    let left = Countdown.text(step.expiresAt - now)
    return switch step {
    case .code(let challenge): "a login waits for its code (\(challenge.method.rawValue)), \(left) left"
    case .action(let action): "a login waits for its user to \(PendingLogins.deed(action)), \(left) left"
    }
  }
}
