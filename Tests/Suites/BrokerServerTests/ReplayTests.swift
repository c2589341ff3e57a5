import BrokerCore
import BrokerProtocol
import BrokerServer
import JSON
import TestSupport
import Testing

/// Events of long ago are given in pages, and nobody else waits for more than one of them.
@Suite(.standardTimeLimit) struct ReplayTests {
  private static func call(_ method: String, _ params: String = "{}", _ id: Int = 9) -> String {
    #"{"jsonrpc":"2.0","id":\#(id),"method":"\#(method)","params":\#(params)}"#
  }

  private static let login = call("login", #"{"email":"a@example.test","password":"right"}"#, 1)

  private static func event(_ sequence: UInt64) -> BrokerEvent {
    BrokerEvent(
      sequence: sequence, profile: .default, time: Timestamp(milliseconds: 1_800_000_000_000),
      payload: .loginFailed(LoginFailedEvent(kind: "invalidCredentials")))
  }

  /// A store that an earlier broker has filled.
  private static func store(_ count: Int) throws -> InMemoryStore {
    let store = InMemoryStore()
    store.add((1...count).map { event(UInt64($0)) })
    return store
  }

  private static func sequences(_ lines: [String]) throws -> [Int] {
    try lines.compactMap { line in
      let root = try JSONDocument(parsing: Array(line.utf8)).root
      return try root["params"].map { try Int(from: $0.required("sequence")) }
    }
  }

  /// What a client reads until the event of a sequence has come.
  private static func lines(of reader: TestClient, through last: Int) throws -> [String] {
    var lines: [String] = []
    let isComplete = try Patience.wait {
      let more = reader.lines()
      lines += more
      return try sequences(more).contains { $0 >= last }
    }
    #expect(isComplete, "\(lines.count) lines")
    return lines
  }

  @Test func `a save waits for one reading at most, however many clients want everything`() async throws {
    try await OwnThread.run {
      let store = try Self.store(2_000)
      let harness = try ServerHarness(store: store)
      let readers = try (0..<8).map { _ in try harness.connect() }
      let client = try harness.connect()
      store.hold()
      for reader in readers { reader.send(Self.call("subscribe", #"{"since":0}"#) + "\n") }
      client.send(Self.login + "\n")
      #expect(store.readCount == 1)
      store.release()
      #expect(client.lines().contains { $0.contains("authenticated") })
      for reader in readers {
        let lines = try Self.lines(of: reader, through: 2_001)
        #expect(lines.first?.contains("subscriptionId") == true && lines.first?.contains("resync") == false)
        #expect(try Self.sequences(lines) == Array(1...2_001))
      }
      #expect(store.readCount > 8 * 2)
    }
  }

  @Test func `what happens during a replay comes behind it, and in order`() async throws {
    try await OwnThread.run {
      let store = try Self.store(700)
      let harness = try ServerHarness(store: store)
      let (reader, client) = (try harness.connect(), try harness.connect())
      reader.send(Self.call("subscribe", #"{"since":100}"#) + "\n")
      _ = client.ask(Self.login)
      _ = client.ask(Self.call("logout"))
      let lines = try Self.lines(of: reader, through: 702)
      #expect(try Self.sequences(lines) == Array(101...702))
      // From then on it is told at once.
      _ = client.ask(Self.login)
      #expect(try Self.sequences(reader.lines()) == [703])
    }
  }

  @Test func `a client that reads slowly gets everything, and little of it waits in memory`() async throws {
    try await OwnThread.run {
      let store = try Self.store(9_000)
      var limits = ServerHarness.patientLimits
      limits[.outputBytes] = 1 << 16
      let harness = try ServerHarness(limits: limits, store: store)
      let reader = try harness.connect()
      reader.send(Self.call("subscribe", #"{"since":0}"#) + "\n")
      #expect(harness.server.assumeIsolated { $0.queuedBytes } <= (1 << 16) + (1 << 18))
      let lines = try Self.lines(of: reader, through: 9_000)
      #expect(try Self.sequences(lines) == Array(1...9_000))
      #expect(!lines.contains { $0.contains("eventsLost") })
    }
  }

  @Test func `what retention takes from under a replay is told as lost`() async throws {
    try await OwnThread.run {
      let store = try Self.store(2_000)
      var limits = ServerHarness.patientLimits
      limits[.outputBytes] = 1 << 12
      let harness = try ServerHarness(limits: limits, store: store)
      let reader = try harness.connect()
      reader.send(Self.call("subscribe", #"{"since":0}"#) + "\n")
      store.dropEvents(through: 1_990)
      let lines = try Self.lines(of: reader, through: 2_000)
      let lost = try #require(lines.first { $0.contains("eventsLost") })
      #expect(lost.contains(#""to":1990"#))
      #expect(try Self.sequences(lines).suffix(10) == Array(1_991...2_000))
    }
  }
}
