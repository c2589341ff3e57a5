import LinuxSystem
import TestSupport
import Testing

/// A broker that is killed at any moment while people use the accounts of the embedded provider.
///
/// `AUTHBROKER_KILLS` says how many brokers are killed (15; 100 in `make test-attacks`), `AUTHBROKER_KILL_SEED` where the
/// choices come from (another seed each time, which is printed). A kill takes about two seconds, and all of them have to
/// fit into the time limit.
@Suite(.standardTimeLimit) struct AccountCrashTests {
  /// Few enough for the tests of every change, and enough for most kinds of request.
  private static let usualKills: UInt64 = 15

  private static func number(_ name: String) -> UInt64? { Environment.current[name].flatMap { UInt64($0) } }

  @Test func `whenever the broker is killed, the account database is whole and has all that was acknowledged`()
    async throws
  {
    let kills = Self.number("AUTHBROKER_KILLS") ?? Self.usualKills
    let seed = Self.number("AUTHBROKER_KILL_SEED") ?? UInt64.random(in: 0...UInt64.max)
    try await Sandbox.run { sandbox in
      let stage = try AccountCrashStage(sandbox, seed: seed)
      do {
        for _ in 0..<kills { try stage.live() }
        try stage.examineAll()
      } catch { throw TestFailure("seed \(seed), kill \(stage.kills): \(error)") }
      print("Account crash test: seed \(seed), \(stage.summary)")
      let answers = stage.acknowledged.values.reduce(0, +)
      #expect(answers > kills || kills < Self.usualKills, "seed \(seed): \(answers) answers in \(kills) lives")
    }
  }
}
