import Glibc
import JSON
import LinuxSystem
import TestSupport
import Testing

/// A daemon with a session at the REST backend of the tests, to be attacked.
final class AttackStage {
  /// How long a flood lasts.
  private static let length = Duration.seconds(2)
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

  /// Measures what others notice of an attack: see ``Measurement``.
  func endure(_ name: String, _ attack: () throws -> Int) throws -> Measurement {
    try Measurement.take(name, of: owner.pid, on: sandbox.socket, during: attack)
  }

  /// Measures what others notice of a flood, some of which is answered if it reads answers.
  func endure(_ flood: Flood) throws -> Measurement {
    try endure(flood.name) {
      let tide = Flood.Tide(flood, on: sandbox.socket)
      Measurement.pass(Self.length)
      let (sent, answered) = tide.end()
      #expect(answered > 0 || !flood.reads, "\(flood.name)")
      return sent
    }
  }

  /// Expects that what a flood sends at a time is answered, and not with an error.
  func expectAnswered(_ flood: Flood) throws {
    let message = flood.message(0)
    let wire = try SocketWire(sandbox.socket)
    try wire.sendRaw(message)
    for _ in 0..<message.count(where: { $0 == UInt8(ascii: "\n") }) {
      let answer = try wire.nextNode()
      for entry in answer.kind == .array ? try answer.elements() : [answer] {
        let text = String(decoding: entry.text.prefix(400), as: UTF8.self)
        #expect(entry["result"] != nil, "\(flood.name): \(text)")
      }
    }
  }

  /// How often each limit has refused something, by its name.
  func refusals() throws -> [String: Int64] {
    let limits = try wire.call("getStatus").required("limits").elements()
    let counts = try limits.map { (try $0.required("name").string(), try $0.required("refused").integer()) }
    return Dictionary(uniqueKeysWithValues: counts)
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
