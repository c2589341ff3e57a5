import LinuxSystem
import TestSupport
import Testing

/// Every call of the system that a start makes may fail, and every byte of the vault's header may be another one: the broker
/// serves the tokens that live, or ends with a sentence, and never by a signal.
@Suite(.standardTimeLimit) struct StartFaultTests {
  /// How many starts are tried: `AUTHBROKER_START_FAULTS`, or a few by chance.
  private static let runs = Environment.current["AUTHBROKER_START_FAULTS"].flatMap { Int($0) } ?? 40

  @Test func `a start to which the system says no once serves what lives, or ends with a sentence`() async throws {
    try await Sandbox.run { sandbox in
      let driver = Repository.root + "/Tests/Drivers/StartFaults/run"
      let seed = UInt32.random(in: 0...UInt32.max)
      let outcome = try sandbox.run(
        "/usr/bin/env", ["python3", driver, BuiltPrograms.directory, "--runs", "\(Self.runs)", "--seed", "\(seed)"])
      #expect(outcome.code == 0, "seed \(seed): \(outcome.output)\(outcome.errors)")
    }
  }
}
