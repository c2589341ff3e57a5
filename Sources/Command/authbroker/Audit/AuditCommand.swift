import BrokerProtocol
import StateDirectory

/// `authbroker audit`.
enum AuditCommand: Command {
  static let name = "audit"
  static let about = CommandDescription(
    operands: "[HEAD]", summary: "Show who was given and refused tokens, and check that the record is whole",
    details: """
      The broker keeps an audit where the configuration has rules or limited sockets, unless access.audit is false. Equal
      grants and refusals of a minute are one line with their number.

      With --verify each entry is compared with the one before it, in place of being shown. A HEAD that the broker has
      written to its log earlier (`audit entry=… head=…`) tells in addition whether the whole audit was replaced or cut
      since then. Ends with exit code 1 where an entry was changed, added or removed.
      """,
    options: [
      .value("--since", "TIME", "only what came after a time (RFC 3339), or after so long ago: 90m, 8h, 7d"),
      .flag("--verify", "check every entry, and compare with HEAD where it is given"),
    ],
    examples: ["authbroker audit --since 8h --profile work", "authbroker audit --verify"])

  /// Asks for the entries, as many at a time as the broker gives, and prints a line for each.
  static func run(_ context: Context) throws(CommandFailure) {
    let arguments = context.arguments
    guard !arguments.has("--verify") else { return try verify(context) }
    guard arguments.operands.isEmpty else { throw .usage("a HEAD is compared with --verify only") }
    let since = try arguments["--since"].map { text throws(CommandFailure) in try time(text) }
    var params = ReadAudit.Params(since: since, profile: try arguments.profile())
    var connection = try context.connect()
    var whole = ReadAudit.Result(through: 0)
    repeat {
      params.after = whole.through
      let page = try context.call(ReadAudit.self, params, on: &connection)
      let entries = whole.entries + page.entries
      let goesOn = page.through > whole.through
      whole = page
      whole.entries = entries
      guard goesOn else { break }
    } while whole.omitted > 0
    whole.omitted = 0
    if context.wantsJSON { return context.printJSON(whole) }
    guard !whole.entries.isEmpty else { return context.notice(Message(nothing(whole))) }
    print(whole.entries, context.style)
  }

  private static func nothing(_ result: ReadAudit.Result) -> String {
    if result.head != nil { return "no entry matches" }
    return result.isOn
      ? "no entries yet"
      : "there is no audit: it needs rules (access) or limited sockets in the configuration, and access.audit not false"
  }

  // MARK: Verifying

  private static func verify(_ context: Context) throws(CommandFailure) {
    var connection = try context.connect()
    let head = context.arguments.operands.first
    let result = try context.call(ReadAudit.self, .init(verifies: true, head: head), on: &connection)
    guard let verification = result.verification else {
      throw CommandFailure(.failure, "the broker does not verify its audit; it is of another version")
    }
    if context.wantsJSON {
      context.printJSON(result)
    } else {
      for finding in verification.findings {
        let line = BrokerSentence.plain(finding.message)
        Output.line(finding.isError ? context.style.warning(line) : line)
      }
      if verification.isIntact { Output.line(summary(result, verification, head)) }
    }
    guard !verification.isIntact else { return }
    throw CommandFailure(.failure, "the audit is not what the broker wrote; do not rely on what it says").behindResult()
  }

  private static func summary(
    _ result: ReadAudit.Result, _ verification: AuditVerification, _ given: String?
  ) -> String {
    guard let head = result.head else { return "the audit has no entries" }
    let entries = verification.count == 1 ? "1 entry is" : "\(verification.count) entries are"
    let compared = given == nil ? "" : ", with the given head among them or before"
    return "\(entries) as written\(compared); head \(PlainText.line(head.utf8))"
  }

  // MARK: Lines

  private static func print(_ entries: [AuditEntry], _ style: Style) {
    var table = TextTable("NUMBER", "TIME", "COUNT", "WHAT", "PROFILE", "METHOD", "CLIENT", "DETAILS")
    for entry in entries {
      table.add(
        String(entry.number), LocalTime.full(entry.time), String(entry.count), PlainText.line(entry.kind.utf8),
        entry.profile?.description, plain(entry.method), entry.client.map(words), plain(details(entry)))
    }
    table.print(style) { line, cells in
      let kind = AuditEntry.Kind(rawValue: entries[line].kind)
      if kind == .refusal || kind == .gap { cells[3] = style.warning(cells[3]) }
    }
  }

  private static func words(_ client: AuditedClient) -> String {
    PlainText.line((client.identity.words + (client.isAdministrative ? ", administrative" : "")).utf8)
  }

  private static func details(_ entry: AuditEntry) -> String? {
    var parts = [entry.outcome, entry.subject].compactMap { $0 }
    if let scopes = entry.scopes { parts.append("scopes " + scopes.joined(separator: " ")) }
    if let audience = entry.audience { parts.append("audience " + audience) }
    if let token = entry.tokenID { parts.append("token " + token) }
    if let since = entry.since { parts.append("since " + LocalTime.full(since)) }
    return parts.isEmpty ? nil : parts.joined(separator: ", ")
  }

  private static func plain(_ text: String?) -> String? { text.map { PlainText.line($0.utf8) } }

  /// A time that was named: a moment, or how long ago it is.
  private static func time(_ text: String) throws(CommandFailure) -> Timestamp {
    if let time = Timestamp(text) { return time }
    guard let ago = Duration(text) else {
      throw .usage(
        "--since needs a time such as 2026-03-01T09:00:00Z, or how long ago, such as 90m, 8h or 7d, not "
          + text.shellQuoted)
    }
    return LocalTime.now + (.zero - ago)
  }
}
