import Glibc
import JSON
import LinuxSystem
import TestSupport
import Testing

/// A daemon with a session at the REST backend of the tests, to be attacked.
final class AttackStage {
  /// How much a daemon may hold beyond what it held before, in KiB: room for every buffer that the limits allow over all
  /// connections, and far below what a small machine has.
  static let memoryLimit = 64 << 10
  /// How many times as long as in quiet a well-behaved client may wait, at the 99th percentile.
  static let slowdown = 5
  /// The least that counts as its quiet wait: for so long a virtual machine's processor may be taken away.
  static let leastQuiet = Duration.milliseconds(2)
  /// How long each side is measured.
  static let length = Duration.seconds(2)
  /// The longest that a single answer may take that an attack is not to hold up: the contract's refresh takes 20 s.
  static let patience = Duration.seconds(20)

  static let credentials = #"{"email":"ada@example.com","password":"example password 1"}"#
  private static let account = #"{"email":"ada@example.com","password":"example password 1","name":"Ada"}"#
  private static let force = #"{"forceRefresh":true}"#

  let sandbox: Sandbox
  let backend: RESTBackend
  let owner: Program
  /// A connection of a client that is no attacker.
  let wire: SocketWire

  /// Starts everything and logs in.
  ///
  /// - Parameters:
  ///   - sandbox: where it lives.
  ///   - options: more members of the configuration, each with a comma behind it.
  /// - Throws: ``TestFailure`` where one of them does not start.
  init(_ sandbox: Sandbox, _ options: String = "") throws {
    self.sandbox = sandbox
    backend = try RESTBackend(sandbox, account: Self.account)
    let profile = "provider: \"rest\", baseUrl: \"\(backend.url)\""
    owner = try sandbox.owner(try sandbox.configure("{ \(options) profiles: { default: { \(profile) } } }"))
    wire = try SocketWire(sandbox.socket)
    _ = try wire.call("login", Self.credentials)
    // Whatever is made once is made before anything is measured.
    for _ in 0..<200 { _ = try wire.accessToken() }
  }

  /// What a flood came to.
  struct Outcome {
    let name: String
    let quiet: WellBehavedClient.Record
    let attacked: WellBehavedClient.Record
    let growth: Int
    let sent: Int

    /// The longest that the client may wait at the 99th percentile.
    var bound: Duration { max(quiet.quantile(0.99), AttackStage.leastQuiet) * AttackStage.slowdown }

    /// A row of the table.
    var row: String {
      func text(_ duration: Duration) -> String {
        let microseconds = duration.components.seconds * 1_000_000 + duration.components.attoseconds / 1_000_000_000_000
        return "\(Double(microseconds / 10) / 100)"
      }
      let times = [quiet, attacked].flatMap { [text($0.quantile(0.5)), text($0.quantile(0.99))] }
      return "| \(name) | \(times.joined(separator: " | ")) | \(growth / 1024) MiB | \(sent) |"
    }

    static let head = """
      | attack | quiet p50 (ms) | quiet p99 | attacked p50 | attacked p99 | memory | messages |
      |---|---|---|---|---|---|---|
      """
  }

  /// Measures a well-behaved client in quiet and under a flood, and the daemon's memory.
  func endure(_ flood: Flood) throws -> Outcome {
    Processor.first.hold(owner.pid)
    let quiet = try WellBehavedClient.record(sandbox.socket) { pass(Self.length) {} }
    var gauge = try MemoryGauge(of: owner.pid)
    let tide = Flood.Tide(flood, on: sandbox.socket)
    var sent = 0
    let attacked = try WellBehavedClient.record(sandbox.socket) {
      defer { sent = tide.end() }
      try pass(Self.length) { try gauge.look() }
    }
    return Outcome(name: flood.name, quiet: quiet, attacked: attacked, growth: gauge.growth, sent: sent)
  }

  /// Lets a measurement take its time.
  private func pass<Failure>(_ length: Duration, _ body: () throws(Failure) -> Void) throws(Failure) {
    let end = BootClock.now + length
    while BootClock.now < end {
      try body()
      usleep(20_000)
    }
  }

  /// Expects what must hold of every flood, and prints the table.
  func expectGood(_ outcomes: [Outcome]) {
    print(([Outcome.head] + outcomes.map(\.row)).joined(separator: "\n"))
    for outcome in outcomes {
      #expect(outcome.attacked.complaints == [], "\(outcome.name)")
      #expect(!outcome.attacked.latencies.isEmpty && outcome.sent > 0, "\(outcome.name)")
      #expect(outcome.attacked.quantile(0.99) <= outcome.bound, "\(outcome.row)")
      #expect(outcome.growth <= Self.memoryLimit, "\(outcome.row)")
    }
  }

  /// A forced refresh on a connection of its own; the kind of its refusal, or nil.
  func refresh() throws -> String? { try SocketWire(sandbox.socket).refusal("getAccessToken", Self.force) }

  /// Refreshes until it works: the broker waits a little after a failure.
  func refreshAtLast() throws {
    var kind: String?
    let isRefreshed = try Patience.wait {
      kind = try refresh()
      if kind != nil { usleep(100_000) }
      return kind == nil
    }
    #expect(isRefreshed, "\(kind ?? "")")
  }

  /// Expects that the session lives, goes on, and that no refresh token has ever been processed twice.
  func expectNothingLost() throws {
    let wire = try SocketWire(sandbox.socket)
    try refreshAtLast()
    #expect(try wire.call("getSession").required("state").string() == "authenticated")
    #expect(try !wire.accessToken().isEmpty)
    try expectNoReuse()
  }

  /// Expects that the backend has seen each refresh token once.
  func expectNoReuse() throws {
    var seen: Set<String> = []
    for entry in try backend.ask("/ledger?event=refresh").required("entries").elements() {
      let (token, outcome) = (try entry.required("token").string(), try entry.required("outcome").string())
      #expect(outcome == "rotated", "\(token)")
      #expect(seen.insert(token).inserted, "\(token) was sent twice")
    }
  }

  /// Whether the daemon runs.
  var isAlive: Bool { (try? FileStatus.following("/proc/\(owner.pid)/exe")) != nil }
}
