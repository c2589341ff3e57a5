import AuthBrokerClient
import BrokerProtocol
import LinuxSystem

/// The questions, one after the other, at a terminal: those that wait, and those that come.
enum ConsentDialogue {
  /// An answer that a person types.
  private enum Reply {
    case allow, allowProcess, deny, skip
  }

  /// Asks until the program is ended, or the time of `--timeout` passes without a question.
  static func run(_ context: Context) throws(CommandFailure) {
    let timeout = try context.arguments.seconds("--timeout")
    var watch = try EventWatch(context, events: [EventName.consentRequested.rawValue], profiles: nil, since: nil)
    _ = try watch.begin()
    var skipped: Set<String> = []
    var isIdle = false
    while true {
      // Another connection: the first one is told of events meanwhile.
      var connection = try context.connect()
      let waiting = try context.call(ListConsents.self, Empty(), on: &connection).consents
      skipped.formIntersection(waiting.map { $0.consentID })
      guard let question = waiting.first(where: { !skipped.contains($0.consentID) }) else {
        if !isIdle { Output.notice("no question waits; waiting for the next one (Ctrl-C ends)") }
        isIdle = true
        _ = try watch.next(within: timeout)
        continue
      }
      isIdle = false
      if try ask(question, context, on: &connection) == .skip { skipped.insert(question.consentID) }
    }
  }

  private static func ask(
    _ question: ConsentQuestion, _ context: Context, on connection: inout BlockingConnection
  ) throws(CommandFailure) -> Reply {
    for line in ConsentText(question).lines { Output.paragraph(line.text, behind: line.lead) }
    let reply = try reply(to: question)
    guard reply != .skip else { return reply }
    let params = AnswerConsent.Params(
      consentID: question.consentID, allow: reply != .deny, subject: reply == .allowProcess ? "process" : nil)
    do throws(CommandFailure) {
      _ = try context.call(AnswerConsent.self, params, on: &connection)
      Output.notice(reply == .deny ? "refused" : "allowed")
    } catch {
      // Another one was quicker, or the time is over.
      guard error.error?.kind == .flowNotFound else { throw error }
      Output.notice("too late: it was answered elsewhere, or its time is over")
    }
    return reply
  }

  private static func reply(to question: ConsentQuestion) throws(CommandFailure) -> Reply {
    let isWide = question.grants.subject != "process"
    let choices = isWide ? "y = allow, p = this process alone, n = deny, s = later" : "y = allow, n = deny, s = later"
    while true {
      switch try Prompt.ask("\(choices)").lowercased() {
      case "y", "yes", "allow": return .allow
      case "p" where isWide: return .allowProcess
      case "n", "no", "deny": return .deny
      case "s", "skip", "later": return .skip
      default: Output.notice("type one of these letters")
      }
    }
  }
}
