import JSONRPC
import TestSupport
import Testing

/// A broker that is killed at any moment, hundreds of times.
struct CrashTests {
  private static let lives = 76

  /// Four state directories at a time, with 76 lives each: more than 300 in all.
  @Test(arguments: 1...4)
  func `whenever the broker is killed, what it acknowledged is true in its next life`(_ number: Int) async throws {
    let seed = UInt64.random(in: 0...UInt64.max)
    try await Sandbox.run { sandbox in
      let client = CrashClient(sandbox, seed: seed)
      try client.prepare()
      for life in 1...Self.lives {
        try client.live()
        #expect(client.ledger.complaints.isEmpty, "seed \(seed), life \(life)")
        guard client.ledger.complaints.isEmpty else { return }
        if life % 10 == 0 { #expect(try client.leaks().isEmpty, "seed \(seed), life \(life)") }
      }
      let (ledger, done) = (client.ledger, client.ledger.acknowledged)
      print(
        """
        Crash test, directory \(number): \(Self.lives) lives, \(client.kills) kills; acknowledged: \(done.logins) logins, \
        \(done.refreshes) refreshes, \(done.logouts) logouts; the provider knew more \(ledger.sessionsInDoubt) times
        """)
      #expect(done.logins > 5 && done.refreshes > Self.lives / 2)
      _ = try sandbox.owner()
      #expect(try SocketWire(sandbox.socket).call("ping").members().isEmpty)
    }
  }
}
