import AuthBrokerClient
import BrokerProtocol
import ClientSocket
import JSONRPC

/// `authbroker watch`.
enum WatchCommand: Command {
  /// How the help explains it.
  static let description = CommandDescription(
    name: "watch",
    summary: "Print events as they happen, one a line",
    details: """
      With --json each line is the event's object (sequence, event, profile, time, data). It ends with exit code 8 when
      the broker ends; --since with the last sequence that was seen then goes on without a gap. It ends with 1 when no
      event came within --timeout.
      """,
    options: [
      .value("--events", "A,B", "only these events"),
      .value("--since", "N", "first what happened after the sequence N"),
      .value("--count", "N", "end after N events"),
    ])

  /// Subscribes and prints event after event.
  static func run(_ context: Context) throws(CommandFailure) {
    try context.expectOperands(0...0, of: self)
    let count = try context.arguments.count("--count")
    var connection = try context.connect()
    let state = try context.call(Subscribe.self, try params(context), on: &connection)
    if !context.wantsJSON { introduce(state) }
    if state.resync == true {
      Output.message("the events after \(context.arguments["--since"] ?? "") are no longer kept; going on from here.")
    }
    var seen = 0
    while count.map({ seen < $0 }) ?? true {
      try printNext(&connection, context)
      seen += 1
    }
  }

  private static func params(_ context: Context) throws(CommandFailure) -> Subscribe.Params {
    let events = context.arguments["--events"]?.split(separator: ",").map(String.init)
    for event in events ?? [] where EventName(rawValue: event) == nil {
      let all = EventName.allCases.map(\.rawValue).joined(separator: ", ")
      let likely = Spelling.nearest(to: event, among: EventName.allCases.map(\.rawValue))
      throw .usage("there is no event \(event).\(likely.map { " Did you mean \($0)?" } ?? "") There are: \(all).")
    }
    return Subscribe.Params(
      events: events, profiles: try context.arguments.profile().map { [$0] },
      since: try context.arguments.count("--since"))
  }

  private static func introduce(_ state: Subscribe.Result) {
    let sessions = state.sessions.map { "\($0.profile) is \($0.state.rawValue)" }.joined(separator: ", ")
    Output.message("watching from sequence \(state.sequence); \(sessions.isEmpty ? "no profile" : sessions).")
  }

  private static func printNext(_ connection: inout BlockingConnection, _ context: Context) throws(CommandFailure) {
    let timeout = try context.arguments.seconds("--timeout")
    do throws(ClientError) {
      let (event, text) = try connection.nextEventWithText(timeout: timeout)
      if context.wantsJSON { Output.line(text) } else { Output.line(EventLine.text(of: event, text, context.style)) }
    } catch {
      switch error {
      case .connectionLost: throw CommandFailure(.brokerUnreachable, "the broker has ended.")
      case .timedOut: throw CommandFailure(.failure, "no event came within the time of --timeout.")
      default: throw CommandFailure(error)
      }
    }
  }
}
