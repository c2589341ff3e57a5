import AuthBrokerClient
import BrokerProtocol
import StateDirectory

/// `authbroker queue`.
enum QueueCommand: CommandGroup {
  static let name = "queue"
  static let summary = "Look after the requests that are queued"
  static let details = """
    `authbroker request --queue KEY` queues a change: the requests of a profile are sent one after the other, as soon as there
    is a token and a network, also after a restart, each with its Idempotency-Key.
    """
  static var members: [CommandEntry] { [list, show, cancel] }

  private static var list: CommandEntry {
    CommandEntry(
      "queue list",
      CommandDescription(
        summary: "List the requests that wait, and those that have ended lately",
        examples: ["authbroker queue list", "authbroker queue list -p shop"]),
      calls: ListRequests.self, with: { context throws(CommandFailure) in .init(profile: try context.profile()) },
      show: { result, context in
        guard !result.requests.isEmpty else { return Output.notice("no request is queued") }
        var table = TextTable("ID", "PROFILE", "STATE", "REQUEST", "KEY", "QUEUED", "SENT")
        for request in result.requests {
          table.add(
            PlainText.line(request.requestID.utf8), request.profile.description, state(of: request),
            PlainText.line("\(request.method) \(request.url)".utf8), PlainText.line(request.idempotencyKey.utf8),
            LocalTime.relative(request.queuedAt), String(request.attempts))
        }
        table.print(context.style)
        if let omitted = result.omitted { Output.notice("\(omitted) more are not shown") }
      })
  }

  private static func state(of request: QueuedRequestState) -> String {
    let more = request.status.map(String.init) ?? request.kind ?? request.reason
    return PlainText.line((request.state + (more.map { " (\($0))" } ?? "")).utf8)
  }

  private static var show: CommandEntry {
    CommandEntry(
      "queue show",
      CommandDescription(
        operands: "ID", summary: "Show a request, and print the body of its answer",
        details: "The answer is kept for as long as the request is listed.",
        examples: ["authbroker queue show 4mQ0xYt1bK2c"]),
      calls: GetRequest.self, with: { .init(requestID: $0.arguments.operands[0]) },
      explaining: explained,
      show: { result, _ in
        let request = result.request
        Output.notice(PlainText.line("\(request.method) \(request.url)".utf8))
        Output.notice(state(of: request))
        guard let answer = result.answer else { return }
        let body = answer.bodyBytes ?? Array((answer.body ?? "").utf8)
        Output.data(body.span)
      })
  }

  private static var cancel: CommandEntry {
    CommandEntry(
      "queue cancel",
      CommandDescription(
        operands: "ID", summary: "Take a request out of the queue",
        details: "One that was sent already, without an answer, may have been acted on.",
        examples: ["authbroker queue cancel 4mQ0xYt1bK2c"]),
      calls: CancelRequest.self, with: { .init(requestID: $0.arguments.operands[0]) },
      explaining: explained,
      show: { result, _ in
        let request = result.request
        guard request.kind == RequestFailure.cancelled.rawValue else {
          return Output.notice("it is \(state(of: request)), and not sent again")
        }
        Output.notice(request.attempts > 0 ? "cancelled; it was sent before, and may have been acted on" : "cancelled")
      })
  }

  private static func explained(_ failure: CommandFailure, _ context: Context) -> CommandFailure {
    guard failure.error?.pointer == "/requestId" else { return failure }
    let id = context.arguments.operands[0].shellQuoted
    return failure.saying(Message("no request has the id \(id)", next: NextCommand("see", "queue", "list")))
  }
}
