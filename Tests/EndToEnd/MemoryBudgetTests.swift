import JSON
import LinuxSystem
import TestSupport
import Testing

/// What many clients together can make a broker hold: a bounded amount, whatever they send or leave unread.
@Suite(.standardTimeLimit, .disabled(if: Patience.isInstrumented, "a sanitizer keeps what was freed"))
struct MemoryBudgetTests {
  /// What the broker may take beyond what it had before: the budget of 32 MiB, and half as much again for moving it.
  private static let allowed = 48 << 20

  /// The second number of `/proc/<pid>/statm` (proc(5)), in bytes.
  private static func residentBytes(_ pid: Int32) throws -> Int {
    let words = String(decoding: try Directory.bytes(of: "/proc/\(pid)/statm"), as: UTF8.self).split(separator: " ")
    guard words.count > 1, let pages = Int(words[1]) else { throw TestFailure("statm is not as proc(5) says") }
    return pages * 4096
  }

  /// Lets many clients hold what `fill` leaves behind.
  ///
  /// - Returns: how much more memory the broker took meanwhile, and how often one of the budgets was exceeded.
  private static func growth(
    _ sandbox: Sandbox, _ clients: Int, _ fill: (SocketWire) throws -> Void
  ) throws -> (bytes: Int, refused: Int64) {
    // However slow the machine is, no connection is closed for its patience. No user logs in to the profile idle.
    let configuration = """
      {
        profiles: {
          default: { provider: "local" },
          idle: { provider: "oidc", issuer: "https://op.example.test", clientId: "c" },
        },
        limits: { incompleteMessageSeconds: 3600, stalledOutputSeconds: 3600 },
      }
      """
    let owner = try sandbox.owner(try sandbox.configure(configuration))
    let wire = try SocketWire(sandbox.socket)
    try wire.register()
    let before = try residentBytes(owner.pid)
    var (held, most) = ([SocketWire](), before)
    for _ in 0..<clients {
      let client = try SocketWire(sandbox.socket)
      // One that is closed meanwhile has been turned away.
      try? fill(client)
      held.append(client)
      _ = try wire.call("ping")
      most = max(most, try residentBytes(owner.pid))
    }
    _ = try wire.accessToken()
    let limits = try wire.call("getStatus").required("limits").elements()
    let rows = try limits.filter { ["maxBufferedBytes", "maxWaitingRequests"].contains(try $0["name"]?.string()) }
    let texts = rows.map { String(decoding: $0.text, as: UTF8.self) }
    print("\(held.count) clients: \((most - before) >> 20) MiB more, \(texts.joined(separator: " "))")
    return (most - before, try rows.map { try $0.required("refused").integer() }.reduce(0, +))
  }

  @Test func `half messages of a hundred and fifty clients`() async throws {
    let head = #"{"jsonrpc":"2.0","id":1,"method":"ping","params":{"a":""#
    let half = Array((head + String(repeating: "x", count: 700_000)).utf8)
    try await Sandbox.run { sandbox in
      let (bytes, refused) = try Self.growth(sandbox, 150) { client in try client.sendRaw(half) }
      #expect(bytes <= Self.allowed && refused > 100, "\(bytes >> 20) MiB, \(refused)")
    }
  }

  @Test func `requests of three hundred clients that wait for a login`() async throws {
    // As long as they may be together.
    let scopes = (1...4).map { "\"\($0)\(String(repeating: "s", count: 250))\"" }.joined(separator: ",")
    let params = #"{"profile":"idle","waitForLogin":true,"timeoutSeconds":315360000,"scopes":[\#(scopes)]}"#
    let wait = Array(#"{"jsonrpc":"2.0","id":1,"method":"getAccessToken","params":\#(params)}"#.utf8)
    try await Sandbox.run { sandbox in
      let (bytes, refused) = try Self.growth(sandbox, 300) { client in
        for _ in 0..<60 { try client.send(wait) }
        // Until all of them have been read.
        _ = try client.call("ping")
      }
      #expect(bytes <= Self.allowed && refused > 0, "\(bytes >> 20) MiB, \(refused)")
    }
  }

  @Test func `answers that sixty clients do not read`() async throws {
    let discover = Array(#"{"jsonrpc":"2.0","id":1,"method":"rpc.discover"}"#.utf8)
    try await Sandbox.run { sandbox in
      let (bytes, _) = try Self.growth(sandbox, 60) { client in for _ in 0..<60 { try client.send(discover) } }
      #expect(bytes <= Self.allowed, "\(bytes >> 20) MiB")
    }
  }

  @Test func `names of parameters that are ignored`() async throws {
    // One letter with thirty thousand accents: a single character to Swift.
    let name = "e" + String(repeating: "\u{301}", count: 30_000)
    let params = (0..<15).map { "\"n\($0)\(name)\":0" }.joined(separator: ",")
    let message = Array(#"{"jsonrpc":"2.0","id":1,"method":"ping","params":{\#(params)}}"#.utf8)
    try await Sandbox.run { sandbox in
      let (bytes, _) = try Self.growth(sandbox, 40) { client in
        try client.send(message)
        _ = try client.nextNode()
      }
      #expect(bytes <= 16 << 20, "\(bytes >> 20) MiB")
    }
  }
}
