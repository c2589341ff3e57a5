import TestSupport
import Testing

/// The queue of the real broker in random weather, by seeds.
@Suite(.standardTimeLimit) struct QueueSimulationTests {
  private static let runs: (seeds: UInt64, steps: Int) = (200, 400)

  @Test
  func `nothing is lost, done twice, sent under another key or user, or after it was cancelled, and all in order`()
    async throws
  {
    let seeds = UInt64(Patience.repetitions(Int(Self.runs.seeds)))
    let counts = try await OwnThread.run {
      var all = QueueSimulation.Counts()
      for seed in 1...seeds {
        do {
          let simulation = try QueueSimulation(seed: seed, steps: Self.runs.steps)
          defer { all.add(simulation.counts) }
          try simulation.run()
        } catch {
          let broken = error as? QueueSimulation.Broken
          Issue.record("\(broken?.place ?? "seed \(seed)"): \(error)")
        }
      }
      return all
    }
    print("queue simulation: \(counts)")
    guard seeds == Self.runs.seeds else { return }
    // What the runs must have met, so that the laws were not kept by there being nothing to keep.
    #expect(counts.lives > 600 && counts.queued > 1500 && counts.sent > 1500 && counts.effects > 700)
    #expect(counts.cancelled > 200 && counts.logins > 800 && counts.lost > 100)
  }
}
