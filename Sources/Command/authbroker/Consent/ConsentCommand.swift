import AuthBrokerClient
import BrokerProtocol
import LinuxSystem

/// `authbroker consent`.
enum ConsentCommand: CommandGroup {
  static let name = "consent"
  static let summary = "Answer whether a client may have a token"
  static let details = """
    A rule with `confirm` in the section `access` of the configuration has you asked before a client gets a token. At a
    terminal `authbroker consent` alone shows the questions that wait and those that come, one after the other, until Ctrl-C;
    elsewhere it lists them. What "allow" gives to whom is part of each question.
    """
  static var members: [CommandEntry] { [list, allow, deny] }

  /// Asks a person question after question, or lists them where there is none.
  static func run(_ context: Context) throws(CommandFailure) {
    guard context.canAsk, Terminal.isTerminal(2), !context.wantsJSON else { return try list.run(context) }
    try ConsentDialogue.run(context)
  }

  private static var list: CommandEntry {
    CommandEntry(
      "consent list",
      CommandDescription(summary: "List the questions that wait for an answer", examples: ["authbroker consent list"]),
      calls: ListConsents.self,
      show: { result, context in
        guard !result.consents.isEmpty else { return Output.notice("no question waits") }
        for (index, question) in result.consents.enumerated() {
          if index > 0 { Output.line("") }
          for line in ConsentText(question).lines { Output.paragraph(line.text, behind: line.lead) }
        }
      })
  }

  private static let handleDetails = """
    ID is a question's, or the beginning of it, as `authbroker consent list` shows it; it may be left out where only one
    question waits.
    """

  private static var allow: CommandEntry {
    CommandEntry(
      "consent allow",
      CommandDescription(
        operands: "[ID]", summary: "Allow it, and say for whom and how long",
        details: """
          \(handleDetails) Without options it is allowed for the subject that the question shows, and remembered as
          access.confirm.rememberSeconds says, while it is used: twelve hours at most, and until the vault is locked.
          """,
        options: [
          .value(
            "--subject", "SUBJECT", "process, ancestor (with all that it starts), unit or socket",
            completion: .words(ConsentGrant.subjects)),
          .value("--ancestor", "PID", "the ancestor, one of those that the question shows"),
          .value(
            "--remember", "TIME", "how long it is remembered without being used, such as 0s, 15m or 12h",
            member: "rememberSeconds"),
        ],
        examples: ["authbroker consent allow", "authbroker consent allow c3fQ --subject process --remember 0s"]),
      run: { context throws(CommandFailure) in try answer(true, context) })
  }

  private static var deny: CommandEntry {
    CommandEntry(
      "consent deny",
      CommandDescription(
        operands: "[ID]", summary: "Refuse it",
        details: "\(handleDetails) The same question is refused without asking for a minute.",
        options: [
          .value("--remember", "TIME", "for how long instead, 60s at most", member: "rememberSeconds")
        ],
        examples: ["authbroker consent deny"]),
      run: { context throws(CommandFailure) in try answer(false, context) })
  }

  private static func answer(_ isAllowed: Bool, _ context: Context) throws(CommandFailure) {
    let arguments = context.arguments
    let remember = try arguments["--remember"].map { text throws(CommandFailure) in
      try SocketDraft.time(text, of: "--remember")
    }
    let ancestor = isAllowed ? try arguments.count("--ancestor") : nil
    var connection = try context.connect()
    let waiting = try context.call(ListConsents.self, Empty(), on: &connection).consents
    let question = try chosen(waiting, arguments.operands.first)
    let params = AnswerConsent.Params(
      consentID: question.consentID, allow: isAllowed, subject: isAllowed ? arguments["--subject"] : nil,
      ancestor: ancestor, remember: remember)
    _ = try context.call(AnswerConsent.self, params, on: &connection)
    let text = ConsentText(question)
    let isPlain = params.subject == nil && ancestor == nil && remember == nil
    context.finish(isAllowed ? isPlain ? "allowed: \(text.grant)" : "allowed" : "refused")
  }

  private static func chosen(
    _ waiting: [ConsentQuestion], _ beginning: String?
  ) throws(CommandFailure) -> ConsentQuestion {
    let meant = waiting.filter { $0.consentID.hasPrefix(beginning ?? "") }
    guard let question = meant.first else {
      throw CommandFailure(
        .failure,
        beginning == nil ? "no question waits" : "no such question waits: it was answered, or its time is over",
        next: NextCommand("to see which ones do", "consent", "list"))
    }
    guard meant.count == 1 else {
      throw .usage("\(meant.count) questions are meant; name one", next: NextCommand("to see them", "consent", "list"))
    }
    return question
  }
}
