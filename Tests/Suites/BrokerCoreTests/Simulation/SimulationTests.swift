import BrokerProtocol
import Glibc
import TestSupport
import Testing

/// The real broker in random weather, by seeds.
@Suite(.standardTimeLimit) struct SimulationTests {
  /// How many runs there are, and how many steps each has: more than 100,000 in all.
  private static let runs: (seeds: UInt64, steps: Int) = (220, 500)

  private static let usualSeeds = UInt64(Patience.repetitions(Int(runs.seeds)))

  private static func number(_ name: String) -> UInt64? {
    getenv(name).flatMap { UInt64(String(cString: $0)) }
  }

  @Test func `the same seed is the same run`() async throws {
    let (first, second) = try await OwnThread.run {
      let traces = [1, 2].map { _ in
        let simulation = Simulation(Simulation.Plan(seed: 7, steps: Self.runs.steps), tracing: true)
        try? simulation.run()
        return simulation.trace.last(.max)
      }
      return (traces[0], traces[1])
    }
    #expect(first.count > Self.runs.steps && first == second)
  }

  /// `SIMULATION_SEED` runs one seed, from which `SIMULATION_SEEDS` counts on; `SIMULATION_STEPS` makes runs longer.
  @Test func `every rule holds after each of 100,000 steps`() async throws {
    let first = Self.number("SIMULATION_SEED") ?? 1
    let seeds = Self.number("SIMULATION_SEEDS") ?? (Self.number("SIMULATION_SEED") == nil ? Self.usualSeeds : 1)
    let steps = Self.number("SIMULATION_STEPS").map(Int.init) ?? Self.runs.steps
    let counts = try await OwnThread.run {
      var counts: [Simulation.Counts] = []
      for seed in first..<first + seeds {
        let plan = Simulation.Plan(seed: seed, steps: steps)
        let simulation = Simulation(plan)
        do throws(Violation) {
          try simulation.run()
        } catch {
          Issue.record("\(Shrinker.report(plan, error))")
        }
        counts.append(simulation.counts)
      }
      return counts
    }
    let all = counts.reduce(into: Simulation.Counts()) { $0.add($1) }
    print("simulation: \(all)")
    if seeds == Self.runs.seeds, steps == Self.runs.steps { expectFloors(all) }
  }

  /// What the runs must have met, so that the rules were not upheld by there being nothing to rule: about a third of what
  /// 220 runs of 500 steps meet.
  private func expectFloors(_ counts: Simulation.Counts) {
    #expect(counts.steps == Int(Self.runs.seeds) * Self.runs.steps)
    let floors: [(String, Int, Int)] = [
      ("lives", counts.lives, 800), ("requests", counts.requests, 15_000), ("tokens", counts.tokens, 1000),
      ("refreshes", counts.refreshes, 1500), ("events", counts.events, 3500), ("lost for good", counts.lostForGood, 30),
      ("other tokens", counts.otherTokens, 100), ("refreshes for other tokens", counts.otherFlights, 150),
      ("doubts", counts.doubts, 9), ("stops", counts.stops, 240), ("answers awaited at a stop", counts.awaited, 20),
      ("refreshes by another broker", counts.elsewhere, 30), ("leases of another broker", counts.held, 10),
      ("leases that have run out", counts.takenOver, 10),
    ]
    for (name, count, floor) in floors { #expect(count >= floor, "\(name)") }
  }
}
