import BrokerCore
import BrokerProtocol
import SecretMemory
import TestSupport
import Testing

/// How what a provider says of a session's user gets into the store, and is told.
@Suite(.standardTimeLimit) struct UserDescriptionTests {
  private static let (old, new, newest) = (user("a"), user("b"), user("c"))

  private static func user(_ name: String) -> User { User(id: "user-1", email: "\(name)@example.test") }

  private static func script(_ rules: SessionRules = SessionRules()) -> SessionScript {
    var script = SessionScript(rules, SessionScript.record { $0.user = old })
    _ = script.restart()
    return script
  }

  private static func stored(_ script: SessionScript) -> User? {
    guard case .living(let session)? = script.stored?.contents else { return nil }
    return session.user
  }

  @Test func `another description is a record of its own, with the event that tells of it`() {
    var script = Self.script()
    #expect(script.play(.userDescribed(Self.old)) == [])
    #expect(script.play(.userDescribed(Self.new)) == ["save living 8 announcing userUpdated"])
    #expect(script.machine.living?.user == Self.new && !script.machine.isDescribing && !script.machine.isStoreDegraded)
    #expect(script.restart() == [] && script.machine.living?.user == Self.new)
  }

  @Test func `clients see it once it is durable, and not before`() {
    var machine = Self.script().machine
    let now = SessionScript.start
    #expect(machine.handle(.userDescribed(Self.new), at: now).summary == ["save living 8 announcing userUpdated"])
    #expect(machine.living?.user == Self.old && machine.isDescribing)
    // A second one meanwhile follows the first.
    #expect(machine.handle(.userDescribed(Self.newest), at: now).summary == ["saveAgain"])
    let actions = machine.handle(.saved(generation: 8), at: now).summary
    #expect(actions == ["save living 9 announcing userUpdated"] && machine.isDescribing)
    #expect(machine.living?.user == Self.new, "that one rests in the store")
    #expect(machine.handle(.saved(generation: 9), at: now).isEmpty)
    #expect(machine.living?.user == Self.newest && !machine.isDescribing)
  }

  @Test func `a caller that comes meanwhile is served as soon as it is durable`() {
    var machine = Self.script().machine
    let now = SessionScript.start
    _ = machine.handle(.userDescribed(Self.new), at: now)
    let demand = TokenDemand(waiter: CallerID(1), forcesRefresh: true)
    #expect(machine.handle(.tokenWanted(demand), at: now).summary == ["saveAgain"])
    #expect(machine.handle(.saved(generation: 8), at: now).summary == ["openIntent 1 of 8"])
  }

  @Test func `it goes with the tokens of a refresh that is under way, and neither takes the other's place`() {
    var script = Self.script()
    #expect(script.want(1, force: true) == ["spend 1 refresh-1"])
    #expect(script.play(.userDescribed(Self.new)) == [])
    #expect(script.machine.isDescribing)
    #expect(script.succeed(1) == ["save living 8 announcing tokenRefreshed userUpdated", "token 1"])
    #expect(
      Self.stored(script) == Self.new
        && script.machine.living?.tokens.refreshToken?.value.revealedString() == "refresh-2")
    #expect(!script.machine.isDescribing)
  }

  @Test func `while new tokens are being saved it waits, and its record has them`() throws {
    var machine = Self.script().machine
    let now = SessionScript.start
    let demand = TokenDemand(waiter: CallerID(1), forcesRefresh: true)
    _ = machine.handle(.tokenWanted(demand), at: now)
    _ = machine.handle(.intentSaved(flight: 1), at: now)
    _ = machine.handle(
      .refreshSucceeded(flight: 1, ScriptedProvider.tokens(2, now: now.wall), sentAt: now.wall), at: now)
    #expect(machine.handle(.userDescribed(Self.new), at: now).isEmpty)
    let actions = machine.handle(.saved(generation: 8), at: now)
    #expect(actions.summary == ["token 1", "save living 9 announcing userUpdated"])
    guard case .save(let record, _)? = actions.last, case .living(let session) = record.contents else {
      throw UnexpectedAction()
    }
    #expect(session.user == Self.new && session.tokens.refreshToken?.value.revealedString() == "refresh-2")
  }

  private struct UnexpectedAction: Error {}

  @Test func `a refresh that brings nothing lets it be written`() {
    var script = Self.script()
    _ = script.want(1, force: true)
    _ = script.play(.userDescribed(Self.new))
    let actions = script.fail(1, .transient(.networkUnavailable))
    #expect(actions.last == "save living 8 announcing userUpdated", "\(actions)")
    #expect(Self.stored(script) == Self.new && script.intent == nil)
  }

  @Test func `an intent whose outcome is not known stays open beside the record, which is the one it means`() {
    var script = Self.script()
    _ = script.want(1, force: true)
    _ = script.fail(1, .outcomeUnknown(.timeout))
    #expect(script.machine.isOutcomeUnknown && script.intent?.generation == 7)
    let sent = script.intent?.startedAt
    #expect(script.play(.userDescribed(Self.new)) == ["save living 8 announcing userUpdated"])
    #expect(script.intent?.generation == 8 && script.intent?.startedAt == sent && script.machine.isOutcomeUnknown)
    // Found after a crash, it says the same.
    #expect(script.restart() == [] && script.machine.isOutcomeUnknown && script.machine.living?.user == Self.new)
  }

  @Test func `a description that the store refuses is shown as unsaved, and tried again`() {
    var script = Self.script()
    script.storeWorks = false
    #expect(script.play(.userDescribed(Self.new)) == ["save living 8 announcing userUpdated"])
    #expect(script.machine.isStoreDegraded && !script.machine.isDescribing)
    #expect(script.machine.living?.user == Self.new, "the provider has it so")
    // The next one takes its place once the store has refused it again, and tells of both.
    #expect(script.play(.userDescribed(Self.newest)) == ["saveAgain"])
    script.storeWorks = true
    #expect(script.play(.saveFailed(generation: 8)) == ["save living 9 announcing userUpdated userUpdated"])
    #expect(Self.stored(script) == Self.newest && !script.machine.isStoreDegraded)
  }

  @Test func `a session that is being replaced, or has ended, needs no description`() {
    var machine = Self.script().machine
    let now = SessionScript.start
    let login = ProviderSession(tokens: ScriptedProvider.tokens(5, now: now.wall), user: Self.newest)
    _ = machine.handle(.loginAccepted(login, method: "password"), at: now)
    #expect(machine.handle(.userDescribed(Self.new), at: now).isEmpty && machine.isDescribing)
    _ = machine.handle(.saved(generation: 8), at: now)
    #expect(machine.living?.user == Self.newest && !machine.isDescribing)
    _ = machine.handle(.logoutWanted(.user), at: now)
    #expect(machine.handle(.userDescribed(Self.new), at: now).isEmpty && !machine.isDescribing)
  }

  @Test func `a login that could not be saved gives way to the description that came meanwhile`() {
    var script = Self.script()
    let login = ProviderSession(tokens: ScriptedProvider.tokens(5, now: script.now.wall), user: Self.newest)
    var machine = script.machine
    _ = machine.handle(.loginAccepted(login, method: "password"), at: script.now)
    _ = machine.handle(.userDescribed(Self.new), at: script.now)
    // What overwrites the refused record first is the session of before.
    #expect(machine.handle(.saveFailed(generation: 8), at: script.now).summary == ["save living 9"])
    #expect(machine.handle(.saved(generation: 9), at: script.now).summary == ["save living 10 announcing userUpdated"])
    script.machine = machine
    #expect(script.play(.saved(generation: 10)) == [])
    #expect(script.machine.living?.user == Self.new)
  }
}
