import LinuxSystem
import TestSupport
import Testing

/// A broker that is killed at any moment while people use the accounts of the embedded provider.
///
/// `AUTHBROKER_KILLS` says how many brokers are killed (15), `AUTHBROKER_KILL_SEED` which seed the choices come from: by
/// default another one each time, which is printed.
@Suite(.standardTimeLimit) struct AccountCrashTests {
  private static func number(_ name: String) -> UInt64? { Environment.current[name].flatMap { UInt64($0) } }

  @Test func `whenever the broker is killed, the account database is whole and has all that was acknowledged`()
    async throws
  {
    let kills = Self.number("AUTHBROKER_KILLS") ?? 15
    let seed = Self.number("AUTHBROKER_KILL_SEED") ?? UInt64.random(in: 0...UInt64.max)
    try await Sandbox.run { sandbox in
      let stage = try AccountCrashStage(sandbox, seed: seed)
      do {
        for _ in 0..<kills { try stage.live() }
        try stage.examineAll()
      } catch { throw TestFailure("seed \(seed), kill \(stage.kills): \(error)") }
      print("Account crash test: seed \(seed), \(stage.summary)")
      let missing = AccountMethod.allCases.filter { stage.acknowledged[$0] == nil }
      #expect(missing.isEmpty || kills < 15, "seed \(seed): nobody was answered \(missing)")
    }
  }
}
