import AuthBrokerClient
import BrokerProtocol

/// `authbroker watch`.
enum WatchCommand: Command {
  static let name = "watch"
  static let about = CommandDescription(
    summary: "Print events as they happen, one a line",
    details: """
      With --json each line is the event's object (subscriptionId, sequence, event, profile, time, data). When the
      broker dies, another one is started, unless --no-start or $AUTHBROKER_SOCKET forbid it, and the events continue
      without a gap. One that was stopped is waited for. If no broker comes for 10 s it ends with exit code 8, and names
      the --since to resume with; if no event comes for --timeout, counted from the last one, with 5.
      """,
    options: [
      .value("--events", "A,B", "only these events", completion: .events),
      .value("--since", "N", "begin with the events after the sequence N"),
      .value("--count", "N", "end after N events"),
    ],
    examples: [
      "authbroker watch",
      "authbroker watch --events login,logout --json",
      "authbroker watch --since 120 --count 1",
    ])

  /// Subscribes and prints event after event.
  static func run(_ context: Context) throws(CommandFailure) {
    let count = try context.arguments.count("--count")
    let timeout = try context.arguments.seconds("--timeout")
    let (events, since) = (try events(context), try context.arguments.count("--since"))
    let profiles = try context.arguments.profile().map { [$0] }
    var watch = try EventWatch(context, events: events, profiles: profiles, since: since)
    let state = try watch.begin()
    if !context.wantsJSON { introduce(state, context) }
    var seen = 0
    while count.map({ seen < $0 }) ?? true {
      let (event, text) = try watch.next(within: timeout)
      if context.wantsJSON { Output.json(text) } else { Output.line(EventLine.text(of: event, text, context.style)) }
      seen += 1
    }
  }

  private static func events(_ context: Context) throws(CommandFailure) -> [String]? {
    let events = context.arguments["--events"]?.split(separator: ",").map(String.init)
    guard events?.isEmpty != true else { throw .usage("--events names no event") }
    for event in events ?? [] where EventName(rawValue: event) == nil {
      let all = EventName.allCases.map { $0.rawValue }
      throw .unknown(
        "event", event, likely: Spelling.nearest(to: event, among: all), choices: all.joined(separator: ", "))
    }
    return events
  }

  private static func introduce(_ state: Subscribe.Result, _ context: Context) {
    let sessions = state.sessions.map { "\($0.profile) is \($0.state.words)" }.joined(separator: ", ")
    Output.notice("watching from sequence \(state.sequence); \(sessions.isEmpty ? "no profile" : sessions)")
    guard var connection = try? context.connect(mayStart: false) else { return }
    if let hint = FirstAccount.hint(state.sessions, context, on: &connection) { context.notice(hint) }
  }
}
