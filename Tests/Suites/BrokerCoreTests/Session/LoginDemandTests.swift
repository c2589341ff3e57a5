import BrokerCore
import BrokerProtocol
import SecretMemory
import TestSupport
import Testing

/// How the demands of a server on the next login get into the store.
@Suite(.standardTimeLimit) struct LoginDemandTests {
  private static let stepUp = StepUp(scopes: ["a"], acrValues: ["urn:mfa"], maxAge: 5, wantsUser: true)

  /// The states in which nothing is on its way to the store, and no token may be spent.
  private static let quiet: Set = [
    "resting", "resting, unused, when a refresh is due", "left alone", "resting, used, when a refresh is due",
    "resting, after the access token's end", "resting, after both ends", "resting, after the idle timeout",
    "backing off",
  ]

  private static func stored(_ script: SessionScript) -> StepUp? {
    guard case .living(let session)? = script.stored?.contents else { return nil }
    return session.stepUp
  }

  @Test(arguments: SessionMachineTableTests.settings)
  func `they are written down at once where nothing else is, and once`(_ setting: SessionMachineTableTests.Setting) {
    var machine = SessionMachineTableTests.machine(setting)
    let generation = machine.generation
    let actions = machine.handle(.loginDemanded(Self.stepUp), at: SessionMachineTableTests.start).summary
    #expect(actions == (Self.quiet.contains(setting.name) ? ["save living 8"] : []))
    #expect(machine.generation == generation + UInt64(actions.count))
    #expect(machine.handle(.loginDemanded(Self.stepUp), at: SessionMachineTableTests.start).isEmpty)
  }

  @Test func `they come back, and a login ends them`() {
    var script = SessionScript()
    _ = script.restart()
    #expect(script.play(.loginDemanded(Self.stepUp)) == ["save living 8"])
    _ = script.restart()
    #expect(script.machine.living?.stepUp == Self.stepUp)
    #expect(script.play(SessionMachineTableTests.login()).first == "save living 9 announcing login")
    #expect(script.machine.living?.stepUp == nil && Self.stored(script) == nil)
  }

  @Test func `beside a refresh they follow its tokens, and are not lost by them`() {
    var script = SessionScript()
    _ = script.restart()
    _ = script.want(1, force: true)
    #expect(script.play(.loginDemanded(Self.stepUp)).isEmpty)
    #expect(script.succeed(1) == ["save living 8 announcing tokenRefreshed", "token 1", "save living 9"])
    #expect(Self.stored(script) == Self.stepUp)
    // Those that come while the tokens are on their way to the store.
    let other = StepUp(scopes: ["b"], acrValues: [], maxAge: nil, wantsUser: false)
    var machine = SessionMachineTableTests.machine(
      SessionMachineTableTests.Setting(
        name: "saving",
        events: SessionMachineTableTests.preparing + [.intentSaved(flight: 1), SessionMachineTableTests.success(1)]))
    #expect(machine.handle(.loginDemanded(other), at: SessionMachineTableTests.start).isEmpty)
    let actions = machine.handle(.saved(generation: 8), at: SessionMachineTableTests.start).summary
    #expect(actions.last == "save living 9" && machine.living?.stepUp == other, "\(actions)")
  }

  @Test func `a store that fails costs them, and nothing else`() {
    var script = SessionScript()
    _ = script.restart()
    script.storeWorks = false
    #expect(script.play(.loginDemanded(Self.stepUp)) == ["save living 8"])
    #expect(script.machine.living?.stepUp == Self.stepUp && !script.machine.isStoreDegraded)
    script.storeWorks = true
    #expect(script.want(1, force: true).first?.hasPrefix("spend") == true)
    _ = script.succeed(1)
    #expect(Self.stored(script) == Self.stepUp, "the next record says it")
  }
}
