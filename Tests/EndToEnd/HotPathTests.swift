import JSON
import JSONRPC
import LinuxSystem
import TestSupport
import Testing

/// What a cached token costs, counted: no refresh, no save, no memory that stays.
@Suite(.standardTimeLimit) struct HotPathTests {
  private static let request = Array(#"{"jsonrpc":"2.0","id":7,"method":"getAccessToken","params":{}}"#.utf8)
  /// Requests that are under way at a time: fewer than a connection may have.
  private static let depth = 50
  private static let total: Int64 = 10_000

  @Test func `ten thousand requests for a living token refresh nothing and save nothing`() async throws {
    try await Sandbox.run { sandbox in
      let owner = try sandbox.owner()
      let wire = try SocketWire(sandbox.socket)
      try wire.register()
      // Whatever is made once is made before.
      try Self.ask(wire, Self.total / 5)
      let (before, memory) = (try Self.counters(wire), try Self.residentPages(owner.pid))
      try Self.ask(wire, Self.total)
      let (after, memoryAfter) = (try Self.counters(wire), try Self.residentPages(owner.pid))
      for name in ["refreshes", "saves", "events", "logins", "refreshFailures", "saveFailures"] {
        #expect(after[name] == before[name], "\(name)")
      }
      #expect(try #require(after["tokens"]) - #require(before["tokens"]) == Self.total)
      // 256 KiB is 26 bytes a request: less than anything that one could leave behind. The address sanitizer keeps what
      // is freed for a while, and finds what is left behind by itself.
      let allowed: Int64 = Environment.current["ASAN_OPTIONS"] == nil ? 64 : 4096
      #expect(memoryAfter - memory <= allowed, "\(memoryAfter - memory) pages more")
    }
  }

  @Test func `requests one by one, by many connections, are the same token`() async throws {
    try await Sandbox.run { sandbox in
      _ = try sandbox.owner()
      let first = try SocketWire(sandbox.socket)
      try first.register()
      let token = try first.accessToken()
      for number in 0..<200 {
        let wire = try SocketWire(sandbox.socket, number % 2 == 0 ? .lines : .headers)
        #expect(try wire.accessToken() == token)
      }
      #expect(try Self.counters(first)["refreshes"] == 0)
    }
  }

  private static func ask(_ wire: SocketWire, _ count: Int64) throws {
    for _ in 0..<(count / Int64(depth)) {
      for _ in 0..<depth { try wire.send(request) }
      for _ in 0..<depth {
        guard try wire.nextNode()["result"] != nil else { throw TestFailure("no token") }
      }
    }
  }

  private static func counters(_ wire: SocketWire) throws -> [String: Int64] {
    var counters: [String: Int64] = [:]
    for (name, value) in try wire.call("getStatus").required("counters").members() {
      counters[name] = try value.integer()
    }
    return counters
  }

  /// The second number of `/proc/<pid>/statm` (proc(5)), which everybody may read.
  private static func residentPages(_ pid: Int32) throws -> Int {
    let words = String(decoding: try Directory.bytes(of: "/proc/\(pid)/statm"), as: UTF8.self).split(separator: " ")
    guard words.count > 1, let pages = Int(words[1]) else { throw TestFailure("statm is not as proc(5) says") }
    return pages
  }
}
