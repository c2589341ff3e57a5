import BrokerCore
import BrokerProtocol
import BrokerServer
import TestSupport
import Testing

/// The event before a session's end, as subscribers of the broker get it.
@Suite(.standardTimeLimit) struct SessionEndingTests {
  private static func subscribe(_ since: Int? = nil) -> String {
    let params = #"{"events":["sessionEnding"]\#(since.map { #","since":\#($0)"# } ?? "")}"#
    return #"{"jsonrpc":"2.0","id":1,"method":"subscribe","params":\#(params)}"#
  }

  @Test func `subscribers are told once, before and after a restart`() async throws {
    try await OwnThread.run {
      let (store, clock) = (InMemoryStore(), ManualClock())
      let rules = SessionRules(
        expiry: ExpiryPolicy(refreshesInBackground: false), warnBeforeEnd: .seconds(3600))
      let first = try ServerHarness(store: store, clock: clock, rules: rules)
      let client = try first.connect()
      _ = client.ask(
        #"{"jsonrpc":"2.0","id":1,"method":"login","params":{"email":"a@example.test","password":"right"}}"#)
      _ = client.ask(Self.subscribe())
      let end = clock.now + .seconds(86_400)
      clock.advance(by: .seconds(82_800))
      first.settle()
      let lines = client.lines()
      #expect(lines.count == 1 && lines.first?.contains(#""data":{"endsAt":"\#(end)"}"#) == true, "\(lines)")
      #expect(lines.first?.contains(#""event":"sessionEnding","profile":"default""#) == true)
      let second = try ServerHarness(store: store, clock: clock, rules: rules)
      let later = try second.connect()
      #expect(later.ask(Self.subscribe(0)).count { $0.contains(#""event":"sessionEnding""#) } == 1)
      clock.advance(by: .seconds(1800))
      second.settle()
      #expect(later.lines().isEmpty)
    }
  }
}
