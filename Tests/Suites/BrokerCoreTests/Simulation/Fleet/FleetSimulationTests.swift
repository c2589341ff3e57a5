import BrokerProtocol
import Glibc
import TestSupport
import Testing

/// Real brokers in one fleet in random weather, by seeds.
@Suite(.standardTimeLimit) struct FleetSimulationTests {
  private static let runs: (seeds: UInt64, steps: Int) = (16, 400)

  private static func number(_ name: String) -> UInt64? {
    getenv(name).flatMap { UInt64(String(cString: $0)) }
  }

  /// `FLEET_SEED` runs one seed, from which `FLEET_SEEDS` counts on; `FLEET_STEPS` makes runs longer,
  /// and `FLEET_LINES` what is shown of one.
  @Test func `every rule of a fleet holds after each step`() async throws {
    let first = Self.number("FLEET_SEED") ?? 1
    let seeds = Self.number("FLEET_SEEDS") ?? (Self.number("FLEET_SEED") == nil ? Self.runs.seeds : 1)
    let steps = Self.number("FLEET_STEPS").map(Int.init) ?? Self.runs.steps
    let all = try await OwnThread.run {
      var all = FleetSimulation.Counts()
      for seed in first..<first + seeds {
        let plan = FleetSimulation.Plan(seed: seed, steps: steps)
        let simulation = try FleetSimulation(plan)
        do throws(Violation) {
          try simulation.run()
        } catch {
          let again = try FleetSimulation(plan, tracing: true)
          try? again.run()
          let lines = again.trace.last(Int(Self.number("FLEET_LINES") ?? 80)).joined(separator: "\n  ")
          Issue.record("seed \(seed), \(plan.members) members: \(error)\n  \(lines)")
        }
        all.add(simulation.counts)
      }
      return all
    }
    print("fleet simulation: \(all)")
    guard seeds == Self.runs.seeds, steps == Self.runs.steps else { return }
    // What the runs must have met, so that the rules were not upheld by there being nothing to rule: about a third of what 16
    // runs of 400 steps meet.
    let floors: [(String, Int, Int)] = [
      ("tokens", all.tokens, 250), ("logins", all.logins, 12), ("logouts", all.logouts, 1),
      ("refreshes", all.refreshes, 80), ("repeats", all.repeats, 25), ("deaths", all.deaths, 12),
      ("conflicts", all.conflicts, 6), ("stops", all.stops, 10), ("failovers", all.failovers, 1),
      ("alarms", all.alarms, 1), ("polls", all.polls, 10_000), ("rekeys", all.rekeys, 15), ("new keys", all.newKeys, 4),
    ]
    for (name, count, floor) in floors { #expect(count >= floor, "\(name)") }
  }

  @Test func `an end that is refused because the place has gone back is over, and another member's login is taken up`()
    async throws
  {
    let states = try await OwnThread.run {
      let simulation = try FleetSimulation(FleetSimulation.Plan(seed: 2, steps: 0))
      for _ in 0..<2 { try simulation.join() }
      let (one, two) = (simulation.members[0], simulation.members[1])
      try simulation.ask(one, .login)
      try simulation.rest()
      try simulation.ask(one, .token, isForced: true)
      try simulation.pass(.seconds(10), healthily: true)
      simulation.server.families[0].isAlive = false
      try simulation.ask(one, .token, isForced: true)
      while one.providers.isIdle { try simulation.answerRecord(healthily: true) }
      // The record of the first refresh, and both intents.
      simulation.goBack(by: 3)
      try simulation.pass(.seconds(20), healthily: true)
      try simulation.checkSaved()
      let before = simulation.states
      try simulation.ask(two, .login)
      try simulation.pass(.seconds(20), healthily: true)
      try simulation.checkSaved()
      return [before[0]] + simulation.states
    }
    #expect(states == [.expired, .authenticated, .authenticated])
  }
}
