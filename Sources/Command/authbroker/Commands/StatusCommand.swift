import AuthBrokerClient
import BrokerProtocol
import JSON
import StateDirectory

/// `authbroker status`.
enum StatusCommand: Command {
  static let name = "status"
  static let about = CommandDescription(
    summary: "Show the status of the broker and its sessions",
    details: """
      Of each profile it tells the provider and its address, when the token expires, what the session itself lives to, as
      far as that is known, and its scopes. With --profile it is about that session alone, also with --json, and the exit code tells its state: 0 a token is
      available, 3 login required, 7 the vault is locked. With --clients it is about the clients alone.
      """,
    options: [StatusWatch.option, ClientTable.option],
    examples: [
      "authbroker status", "authbroker status --watch", "authbroker status --clients",
      "authbroker status -p work --json",
    ])

  /// Asks for the status, prints it, and lets the exit code tell about the profile.
  static func run(_ context: Context) throws(CommandFailure) {
    if context.arguments.has(ClientTable.option.name) {
      guard !context.arguments.has(StatusWatch.option.name) else { throw .usage("--clients does not go with --watch") }
      return try ClientTable.run(context)
    }
    if context.arguments.has(StatusWatch.option.name) {
      var watch = try StatusWatch(context)
      return try watch.run()
    }
    let profile = try context.arguments.profile()
    var connection = try context.connect()
    let text = try context.text(of: GetStatus.name, Empty(), on: &connection)
    guard let root = try? JSONDocument(parsing: text).root, let status = try? GetStatus.Result(from: root) else {
      throw CommandFailure(.failure, "the broker's answer is not what was expected")
    }
    let sessions = try SessionTable.sessions(status.profiles, of: profile)
    if context.wantsJSON {
      Output.json(SessionTable.narrowed(root, lists: "profiles", "parkedSessions", "addresses", to: profile))
    } else {
      show(status, sessions, of: profile, context)
      OfflineSessions.print(sessions, context, on: &connection)
      PendingLogins.print(of: sessions.map { $0.profile }, context, on: &connection)
      if let hint = FirstAccount.hint(sessions, context, on: &connection) { context.notice(hint) }
    }
    guard profile != nil, let code = sessions.first.map({ $0.isUsable ? .success : ExitCode($0.state) }),
      code != .success
    else { return }
    throw .quiet(code)
  }

  private static func show(
    _ status: GetStatus.Result, _ sessions: [Session], of profile: ProfileName?, _ context: Context
  ) {
    Output.line("broker   \(PlainText.line(status.version.utf8)), pid \(status.pid), up \(status.uptime.inWords)")
    show(status.vault, context.style)
    Output.line("clients  \(status.connections) connected, \(status.subscriptions.counted("subscription"))")
    let revocations = status.counters.first { $0.name == "pendingRevocations" }?.value ?? 0
    if revocations > 0 {
      let text = "\(Int(revocations).counted("revocation")) pending, retried for a day"
      Output.paragraph(text, behind: "logouts  ", marked: context.style.warning)
    }
    DeliveryLines.print(status.delivery, context.style)
    Output.line("")
    SessionDetails.print(sessions, status.addresses, context.style)
    SessionNotices.print(sessions, context)
    for kept in status.parkedSessions where profile == nil || kept.profile == profile {
      let (end, provider) = (LocalTime.clock(kept.until), PlainText.line(kept.provider.utf8))
      let text = "its session at \(provider) is kept until \(end), for when its earlier configuration is back"
      let next = NextCommand("end it with", "logout", "--profile", kept.profile.description)
      SessionNotices.print(Message(text, next: next), of: kept.profile, context)
    }
    for session in sessions {
      guard let seconds = session.providerClockSkew?.components.seconds else { continue }
      let direction = seconds < 0 ? "behind" : "ahead of"
      let text = "the clock of its provider is \(seconds.magnitude) s \(direction) this machine's; set the clock"
      SessionNotices.print(Message(text), of: session.profile, context)
    }
  }

  /// Tells where the tokens rest, and what opens that.
  private static func show(_ vault: GetStatus.VaultStatus, _ style: Style) {
    let state = vault.locked ? vault.isInitialized ? "locked" : "new, locked" : "open"
    Output.line("vault    \(vault.locked ? style.warning(state) : state), schema \(vault.schemaVersion)")
    let key =
      "its key comes from " + (KeySourceName(rawValue: vault.keySource)?.words ?? PlainText.line(vault.keySource.utf8))
    let place = vault.path.map { "rest encrypted in \(PlainText.line($0.utf8)); " } ?? "rest encrypted in the vault; "
    Output.paragraph(place + key, behind: "tokens   ")
    guard vault.mayBeOlder else { return }
    let text = "an older copy of the vault may be in use; log in again if in doubt (authbroker doctor)"
    Output.paragraph(text, behind: "         ", marked: style.warning)
  }
}

extension KeySourceName {
  /// The source of a vault's key in words for people.
  fileprivate var words: String {
    switch self {
    case .file: "a file"
    case .passphrase: "a passphrase"
    case .credential: "a credential of the service manager"
    case .command: "a command"
    }
  }
}
