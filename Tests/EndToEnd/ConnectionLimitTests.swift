import JSON
import LinuxSystem
import TestSupport
import Testing

/// How many connections the daemon serves at a time.
@Suite(.standardTimeLimit) struct ConnectionLimitTests {
  @Test func `past the configured number a client waits until another one has left`() async throws {
    try await Sandbox.run { sandbox in
      _ = try sandbox.owner(try sandbox.configure("{ limits: { maxConnections: 2 } }"))
      let first = try SocketWire(sandbox.socket)
      _ = try first.call("ping")
      var second: SocketWire? = try SocketWire(sandbox.socket)
      _ = try second?.call("ping")
      let third = try SocketWire(sandbox.socket)
      try third.send(Array(#"{"jsonrpc":"2.0","id":3,"method":"ping"}"#.utf8))
      #expect(try Patience.wait { try Self.refusals(first) > 0 })
      #expect(try first.call("getStatus").required("connections").integer() == 2)
      second = nil
      #expect(try third.nextNode()["id"]?.integer() == 3)
    }
  }

  /// How often the limit was met.
  private static func refusals(_ wire: SocketWire) throws -> Int64 {
    let limits = try wire.call("getStatus").required("limits").elements()
    let row = try limits.first { try $0["name"]?.string() == "maxConnections" }
    return try row?["refused"]?.integer() ?? 0
  }
}
