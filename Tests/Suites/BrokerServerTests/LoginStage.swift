import TestSupport
import Testing

/// A client of a harness, and a watcher of all events that is of the same program.
struct LoginStage {
  let harness: ServerHarness
  let client: TestClient
  let watcher: TestClient

  /// A harness whose provider logs people in by these methods.
  init(
    store: InMemoryStore = InMemoryStore(), clock: ManualClock = ManualClock(), prepare: (ScriptedProvider) -> Void
  ) throws {
    harness = try ServerHarness(store: store, clock: clock, prepare: prepare)
    client = try harness.connect()
    watcher = try harness.connect(process: client.process)
    _ = watcher.ask(#"{"jsonrpc":"2.0","id":1,"method":"subscribe"}"#)
  }

  /// Clients of a harness; the watcher has only the socket.
  init(_ harness: ServerHarness, _ client: TestClient, watcher: TestClient) {
    (self.harness, self.client, self.watcher) = (harness, client, watcher)
    _ = watcher.ask(#"{"jsonrpc":"2.0","id":1,"method":"subscribe"}"#)
  }

  static func line(_ method: String, _ params: String = "{}", _ id: Int = 9) -> String {
    #"{"jsonrpc":"2.0","id":\#(id),"method":"\#(method)","params":\#(params)}"#
  }

  /// The answer to a call; empty where there is none yet.
  func call(_ method: String, _ params: String = "{}") -> String {
    client.ask(Self.line(method, params)).first ?? ""
  }

  /// The names of the events since the last time.
  var events: [String] {
    watcher.lines().map { line in
      let parts = line.split(separator: #""event":""#, maxSplits: 1)
      return parts.last?.split(separator: "\"").first.map(String.init) ?? line
    }
  }

  /// Lets time pass, and everything happen that follows from it.
  func wait(_ seconds: Double) {
    harness.clock.advance(by: .seconds(seconds))
    harness.settle()
  }

  /// The handle of an action in an answer.
  static func loginFlow(_ answer: String) throws -> String {
    let parts = answer.split(separator: #""loginFlowId":""#, maxSplits: 1)
    return try String(#require(parts.last?.split(separator: "\"").first))
  }

  static let credentials = #"{"email":"a@example.test","password":"right"}"#
}
