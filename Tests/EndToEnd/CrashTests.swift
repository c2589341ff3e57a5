import JSON
import LinuxSystem
import TestSupport
import Testing

/// A broker that is killed at any moment.
///
/// `AUTHBROKER_LIVES` says how many lives each state directory has (26; 76 in `make test-attacks`).
@Suite(.standardTimeLimit) struct CrashTests {
  private static let lives = Environment.current["AUTHBROKER_LIVES"].flatMap { Int($0) } ?? 26
  /// So many refreshes are acknowledged at least; where the machine is slow, a life may be too short for one.
  private static let refreshes = lives / 2

  /// Four state directories at a time.
  @Test(arguments: 1...4)
  func `whenever the broker is killed, what it acknowledged is true in its next life`(_ number: Int) async throws {
    let seed = UInt64.random(in: 0...UInt64.max)
    try await Sandbox.run { sandbox in
      let client = try CrashClient(sandbox, seed: seed)
      try client.prepare()
      var life = 0
      while life < Self.lives || (client.ledger.acknowledged.refreshes <= Self.refreshes && life < 5 * Self.lives) {
        life += 1
        try client.live()
        #expect(client.ledger.complaints.isEmpty, "seed \(seed), life \(life)")
        guard client.ledger.complaints.isEmpty else { return }
        if life % 10 == 0 { #expect(try client.leaks().isEmpty, "seed \(seed), life \(life)") }
      }
      let (ledger, done) = (client.ledger, client.ledger.acknowledged)
      print(
        """
        Crash test, directory \(number): \(life) lives, \(client.kills) kills; acknowledged: \(done.logins) logins, \
        \(done.refreshes) refreshes, \(done.logouts) logouts; the provider knew more \(ledger.sessionsInDoubt) times
        """)
      #expect(done.logins > Self.lives / 15 && done.refreshes > Self.refreshes)
      _ = try sandbox.owner()
      #expect(try SocketWire(sandbox.socket).call("ping").members().isEmpty)
    }
  }
}
