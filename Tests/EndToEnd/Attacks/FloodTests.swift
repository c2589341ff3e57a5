import TestSupport
import Testing

extension AttackTests {
  /// Messages that cost much to read, to answer or to keep.
  @Suite(.standardTimeLimit, .serialized) struct FloodTests {
    @Test func `a flood of legal messages is answered, and costs others little time and the daemon little memory`()
      async throws
    {
      try await Sandbox.run { sandbox in
        let stage = try AttackStage(sandbox)
        var measurements: [Measurement] = []
        for flood in Flood.legal {
          try stage.expectAnswered(flood)
          let before = try stage.refusals()
          measurements.append(try stage.endure(flood))
          #expect(try stage.refusals() == before, "\(flood.name)")
        }
        #expect(measurements.count >= 10)
        Measurement.expectGood(measurements)
        try stage.expectNothingLost()
      }
    }

    @Test func `a flood of messages that a limit refuses costs others little time and the daemon little memory`()
      async throws
    {
      try await Sandbox.run { sandbox in
        let stage = try AttackStage(sandbox)
        var measurements: [Measurement] = []
        for flood in Flood.refused {
          let before = try stage.refusals()
          measurements.append(try stage.endure(flood))
          #expect(try stage.refusals() != before, "\(flood.name)")
        }
        Measurement.expectGood(measurements)
        try stage.expectNothingLost()
      }
    }

    @Test func `1,500 messages that never end hold little memory`() async throws {
      try await Sandbox.run { sandbox in
        let stage = try AttackStage(sandbox)
        Measurement.expectGood([try stage.endure(Flood.half)])
        try stage.expectNothingLost()
      }
    }
  }
}
