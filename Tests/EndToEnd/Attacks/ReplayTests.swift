import LinuxSystem
import TestSupport
import Testing

extension AttackTests {
  /// Clients that want every event that was kept.
  @Suite(.standardTimeLimit, .serialized) struct ReplayTests {
    /// A tenth of what a caller waits for a token at most.
    private static let callLimit = Duration.milliseconds(2500)
    /// How much more may be in memory while one client replays everything, in KiB: twice what the history has.
    private static let replayMemory = 16 << 10

    @Test func `forty replays of a full history lose nothing, and hold up neither a login nor a refresh`() async throws
    {
      try await Sandbox.run { sandbox in
        let history = EventHistory.many
        try history.write(to: sandbox.state)
        let stage = try AttackStage(sandbox)
        var times: [Duration] = []
        var (kinds, complaints) = ([String?](), [String]())
        let measurement = try stage.endure("forty replays, half of them slow") {
          let paces =
            [ReplayReader.Pace](repeating: .fast, count: 20) + [ReplayReader.Pace](repeating: .slow, count: 20)
          let crowd = ReplayCrowd(paces, on: sandbox.socket, through: history.count)
          for _ in 0..<3 {
            let start = BootClock.now
            kinds.append(try SocketWire(sandbox.socket).refusal("login", AttackStage.credentials))
            kinds.append(try stage.refresh())
            times.append(BootClock.now - start)
          }
          let seen = crowd.finish()
          complaints = seen.complaints
          return seen.events
        }
        print("a login and a refresh beside forty replays: \(times)")
        #expect(complaints == [])
        #expect(measurement.count == 40 * history.count)
        #expect(kinds.allSatisfy { $0 == nil }, "\(kinds)")
        #expect(times.allSatisfy { $0 < Self.callLimit }, "\(times)")
        Measurement.expectGood([measurement])
        try stage.expectNothingLost()
      }
    }

    @Test func `a client that replays a full history of the longest events costs little memory`() async throws {
      try await Sandbox.run { sandbox in
        let history = EventHistory.long
        try history.write(to: sandbox.state)
        let stage = try AttackStage(sandbox)
        let before = try MemoryGauge.resident(stage.owner.pid)
        var complaints: [String] = []
        let measurement = try stage.endure("one replay of the longest events") {
          let seen = ReplayCrowd([.fast], on: sandbox.socket, through: history.count).finish()
          complaints = seen.complaints
          return seen.events
        }
        let after = try MemoryGauge.resident(stage.owner.pid)
        print("in memory before: \(before.now) KiB, at most \(before.peak); afterwards at most \(after.peak)")
        #expect(complaints == [] && measurement.count == history.count)
        #expect(after.peak <= max(before.peak, before.now + Self.replayMemory))
        Measurement.expectGood([measurement])
        try stage.expectNothingLost()
      }
    }
  }
}
