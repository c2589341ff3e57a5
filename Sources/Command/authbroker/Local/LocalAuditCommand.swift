import BrokerProtocol
import StateDirectory

/// `authbroker local audit`.
enum LocalAuditCommand: Command {
  static let name = "local audit"
  static let about = CommandDescription(
    summary: "Show what the provider has decided, and check that the log is whole",
    details: """
      Each record is bound to the one before it. Ends with exit code 1 where a record was changed or is missing, however
      many are shown.
      """,
    options: [
      .value("--since", "NUMBER", "only what came after that record"),
      .value("--limit", "COUNT", "how many records at most; 100 unless it is given, never more than 1000"),
    ],
    examples: ["authbroker local audit --limit 20"])

  /// Asks for the records and prints them, the newest last.
  static func run(_ context: Context) throws(CommandFailure) {
    var params = ListLocalAudit.Params(since: try context.arguments.count("--since"))
    if let limit = try context.arguments.count("--limit") { params.limit = limit }
    var connection = try context.connect()
    let log = try context.call(ListLocalAudit.self, params, on: &connection)
    if context.wantsJSON { context.printJSON(log) } else { print(log.records, context.style) }
    guard !log.isIntact else { return }
    throw CommandFailure(.failure, "the audit log was changed or cut; do not rely on what it says").behindResult()
  }

  private static func print(_ records: [LocalAuditRecord], _ style: Style) {
    guard !records.isEmpty else { return Output.notice("no records") }
    var table = TextTable("NUMBER", "TIME", "EVENT", "ACCOUNT", "DETAIL")
    for record in records {
      table.add(
        String(record.number), LocalTime.full(record.time), PlainText.line(record.event.utf8),
        record.user.map { PlainText.line($0.utf8) }, record.detail.map { PlainText.line($0.utf8) })
    }
    table.print(style)
  }
}
