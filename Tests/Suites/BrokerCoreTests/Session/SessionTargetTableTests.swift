import BrokerCore
import BrokerProtocol
import SecretMemory
import TestSupport
import Testing

/// The session machine in the states that only tokens for other targets lead to: every event in every one of them.
@Suite(.standardTimeLimit) struct SessionTargetTableTests {
  private typealias Table = SessionMachineTableTests

  private static let (a, b) = (TokenTarget(audience: "a"), TokenTarget(audience: "b"))
  private static let restored = Table.restored
  private static let preparing = [restored, Table.demand(1, target: a)]
  private static let sent = preparing + [.intentSaved(flight: 1)]
  private static let saving = sent + [Table.success(1)]
  private static let kept = saving + [.saved(generation: 8)]
  private static let doubted = sent + [Table.failure(.sessionEnded(.refreshRejected))]

  private static let settings: [Table.Setting] = [
    Table.Setting(name: "preparing for a", events: preparing),
    Table.Setting(name: "sent for a", events: sent),
    Table.Setting(name: "sent for a, b and the session wait", events: sent + [Table.demand(2, target: b), forced]),
    Table.Setting(name: "saving a's", events: saving),
    Table.Setting(name: "saving a's, b waits", events: saving + [Table.demand(2, target: b)]),
    Table.Setting(name: "with a's token", events: kept),
    Table.Setting(name: "with a's token, after its end", events: kept, time: 901),
    Table.Setting(name: "with a's token, degraded", events: saving + [.saveFailed(generation: 8)]),
    Table.Setting(name: "a refused", events: sent + [Table.failure(.refused(.insufficientScope))]),
    Table.Setting(
      name: "a refused, a minute later", events: sent + [Table.failure(.refused(.insufficientScope))], time: 60),
    Table.Setting(name: "a doubted", events: doubted + [.intentSaved(flight: 2)]),
    Table.Setting(name: "backing off", events: sent + [Table.failure(.transient(.networkUnavailable))]),
    Table.Setting(name: "lost for a", events: sent + [Table.failure(.outcomeUnknown(.timeout))]),
    Table.Setting(name: "sent for a, signing in", events: sent + [Table.login()]),
    Table.Setting(name: "answered for a, signing in", events: sent + [Table.login(), Table.success(1)]),
    Table.Setting(
      name: "refused for a, signing in",
      events: sent + [Table.login(), Table.failure(.refused(.insufficientScope))]),
  ]

  private static let forced = Table.demand(3, force: true)

  private static let events: [(name: String, event: SessionMachine.Event)] =
    Table.events + [
      ("new target wanted", Table.demand(9, force: true, target: a)),
      ("target's token refused", Table.demand(9, refused: true, target: a)),
      ("other target wanted", Table.demand(9, target: b)),
      ("covered target wanted", Table.demand(9, target: TokenTarget(scopes: ["read"]))),
      ("target not granted", Table.failure(.refused(.insufficientScope))),
      ("consent wanted", Table.failure(.reauthenticationRequired)),
      ("misconfigured", Table.failure(.refused(.providerRejected))),
      ("reused", Table.failure(.sessionEnded(.refreshRejected, alert: .refreshTokenReuse))),
      ("2 saved", .intentSaved(flight: 2)), ("2 succeeded", Table.success(2)),
      ("2 ended", .refreshFailed(flight: 2, .sessionEnded(.refreshRejected))),
      ("saved 9", .saved(generation: 9)),
    ]

  @Test(arguments: settings) func `every event does what the table says`(in setting: SessionMachineTableTests.Setting) {
    for (name, event) in Self.events {
      var machine = Table.machine(setting)
      let before = machine.summary
      let now = Moment(
        wall: Table.start.wall + .seconds(setting.time), uptime: Table.start.uptime + .seconds(setting.time))
      let actions = machine.handle(event, at: now).summary
      sessionTargetTable.check(setting.name, name, actions, before, machine.summary)
    }
    #expect(sessionTargetTable.events(in: setting.name).isSubset(of: Set(Self.events.map(\.name))))
  }

  @Test func `the table knows every setting`() {
    #expect(sessionTargetTable.states == Set(Self.settings.map(\.name)))
  }
}
