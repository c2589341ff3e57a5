import JSON
import LinuxSystem
import TestSupport
import Testing

extension FaultMatrixTests {
  /// A broker that is killed anywhere in the middle of a refresh, until each part of one was hit.
  struct RandomKillTests {
    /// Where in a refresh a broker was when it was killed, as far as the backend and the next broker can tell.
    enum Window: String, CaseIterable {
      case beforeIntent = "before the intent was durable"
      case beforeArrival = "after that, before the request arrived"
      case beforeSave = "after the rotation, before the save"
      case afterSave = "after the save"
    }

    /// Enough to hit each window many times over, were it only a hundredth of a refresh.
    private static let mostKills = 400
    /// No fewer, so that each window is hit in different ways.
    private static let fewestKills = 40

    @Test func `wherever a refresh is cut off, the backend and the next broker agree on what is lost`() async throws {
      let seed = UInt64.random(in: 0...UInt64.max)
      try await Storm.run(.randomKills, FaultStage.Setting()) { stage, _ in try Self.killAgainAndAgain(stage, seed) }
    }

    private static func killAgainAndAgain(_ stage: FaultStage, _ seed: UInt64) throws -> [String] {
      let began = BootClock.now
      try stage.force()
      let usual = BootClock.now - began
      var random = SeededGenerator(seed: seed)
      var hits: [Window: Int] = [:]
      var kills = 0
      while kills < fewestKills || (hits.count < Window.allCases.count && kills < mostKills) {
        // Most of what is of interest comes early in a refresh.
        let fraction = Double(random.next() % 1000) / 1000
        hits[try cutOff(stage, after: usual * (1.5 * fraction * fraction)), default: 0] += 1
        kills += 1
      }
      #expect(hits.count == Window.allCases.count, "seed \(seed)")
      // Each life's login replaces a session, which is revoked; that is the only end that any may come to.
      let ledger = try FaultLedger(stage.backend)
      let lost = ledger.endings.filter { !$0.isOfReplaced }
      #expect(lost.isEmpty, "seed \(seed): \(lost)")
      #expect(ledger.logins > kills && !ledger.endings.isEmpty, "seed \(seed)")
      return ["\(kills) kills"] + Window.allCases.map { "\(hits[$0] ?? 0) \($0.rawValue)" }
    }

    /// One life: a new session, a refresh, the end in the middle of it, and what is found afterwards.
    private static func cutOff(_ stage: FaultStage, after delay: Duration) throws -> Window {
      try stage.logInAgain()
      let (token, uses) = (try stage.ask(), try FaultLedger(stage.backend).uses.count)
      let wire = try stage.beginForce()
      // The answer to a ping says that the request before it was taken.
      try wire.send(Array(#"{"jsonrpc":"2.0","id":2,"method":"ping"}"#.utf8))
      var wasAnswered = try wire.nextNode()["id"]?.integer() != 2
      let moment = BootClock.now + delay
      while BootClock.now < moment {}
      stage.kill()
      while let message = try wire.next() { wasAnswered = wasAnswered || !message.starts(with: Array(pong.utf8)) }
      try stage.awaitSilence()
      let arrived = try FaultLedger(stage.backend).uses.dropFirst(uses).map(\.outcome)
      try stage.restart()
      // That it is answered in doubt shows in what a forced refresh says.
      let (found, forced) = (String(try stage.ask().prefix { $0 != " " }), try stage.force())
      let isUnknown = forced == "refreshOutcomeUnknown"
      switch (arrived, found == token, isUnknown) {
      case ([], true, false) where !wasAnswered: return .beforeIntent
      case ([], true, true) where !wasAnswered: return .beforeArrival
      case (["rotated"], true, true) where !wasAnswered: return .beforeSave
      case (["rotated"], false, false): return .afterSave
      default:
        throw TestFailure("arrived: \(arrived), answered: \(wasAnswered), found: \(found) after \(token), \(forced)")
      }
    }

    private static let pong = #"{"jsonrpc":"2.0","id":2,"#
  }
}
