import BrokerCore
import BrokerProtocol
import SecretMemory
import TestSupport
import Testing

/// What becomes of a session beside a login that is being saved, and may not be.
@Suite(.standardTimeLimit) struct RefusedLoginTests {
  private static let login: SessionMachine.Event = .loginAccepted(
    ProviderSession(tokens: ScriptedProvider.tokens(5, now: SessionScript.start.wall), user: nil), method: "password")

  /// A machine of which the store keeps nothing by itself.
  private func machine(_ record: SessionRecord? = SessionScript.record()) -> SessionMachine {
    var script = SessionScript(SessionRules(), record)
    _ = script.restart()
    return script.machine
  }

  private func play(_ event: SessionMachine.Event, _ machine: inout SessionMachine) -> [String] {
    machine.handle(event, at: SessionScript.start).summary
  }

  private static func replaced(_ number: Int) -> SessionMachine.Event {
    let start = SessionScript.start
    return .tokensReplaced(ScriptedProvider.tokens(number, now: start.wall), sentAt: start)
  }

  /// Lets the refresh token be on its way.
  private func send(_ machine: inout SessionMachine) {
    let demand = TokenDemand(waiter: CallerID(1), forcesRefresh: true)
    #expect(play(.tokenWanted(demand), &machine) == ["openIntent 1 of 7"])
    #expect(play(.intentSaved(flight: 1), &machine) == ["spend 1 refresh-1"])
  }

  @Test func `tokens of a changed password count if the login beside them fails`() {
    var machine = machine()
    _ = play(Self.login, &machine)
    #expect(play(Self.replaced(3), &machine).isEmpty)
    #expect(play(.saveFailed(generation: 8), &machine) == ["save living 9 announcing tokenRefreshed"])
    _ = play(.saved(generation: 9), &machine)
    #expect(machine.living?.tokens.refreshToken?.value == ScriptedProvider.secret("refresh-3"))
  }

  @Test func `tokens of a changed password are an older session's if the login beside them is saved`() {
    var machine = machine()
    _ = play(Self.login, &machine)
    _ = play(Self.replaced(3), &machine)
    #expect(play(.saved(generation: 8), &machine) == ["revoke access-3"])
    #expect(machine.living?.tokens.refreshToken?.value == ScriptedProvider.secret("refresh-5"))
  }

  @Test func `a flight that lands after a changed password does not take its place`() {
    for failure in [ProviderFailure.sessionEnded(.refreshRejected), .transient(.networkUnavailable), nil] {
      var machine = machine()
      send(&machine)
      _ = play(Self.login, &machine)
      _ = play(Self.replaced(3), &machine)
      let (wall, tokens) = (SessionScript.start.wall, ScriptedProvider.tokens(2, now: SessionScript.start.wall))
      let landed: SessionMachine.Event =
        failure.map { .refreshFailed(flight: 1, $0) } ?? .refreshSucceeded(flight: 1, tokens, sentAt: wall)
      #expect(play(landed, &machine).isEmpty)
      #expect(play(.saveFailed(generation: 8), &machine) == ["save living 9 announcing tokenRefreshed"])
      #expect(play(.saved(generation: 9), &machine) == ["token 1"])
      #expect(machine.living?.tokens.refreshToken?.value == ScriptedProvider.secret("refresh-3"))
    }
  }

  @Test func `a refused login is overwritten by what was before, since its record may rest there all the same`() {
    var nobody = machine(nil)
    _ = play(Self.login, &nobody)
    #expect(play(.saveFailed(generation: 1), &nobody) == ["save signedOut 2"])

    var ended = machine()
    _ = ended.handle(.logoutWanted(.user), at: SessionScript.start)
    _ = play(.saved(generation: 8), &ended)
    _ = play(Self.login, &ended)
    #expect(play(.saveFailed(generation: 9), &ended) == ["save signedOut 10"])

    var living = machine()
    _ = play(Self.login, &living)
    #expect(play(.saveFailed(generation: 8), &living) == ["save living 9"])
    #expect(living.isStoreDegraded)
    _ = play(.saved(generation: 9), &living)
    #expect(!living.isStoreDegraded && living.settledGeneration == 9)
    #expect(living.living?.tokens.refreshToken?.value == ScriptedProvider.secret("refresh-1"))
  }

  @Test func `an open intent is not closed by that: the refresh's own record comes`() {
    var machine = machine()
    send(&machine)
    _ = play(Self.login, &machine)
    #expect(play(.saveFailed(generation: 8), &machine).isEmpty)
    let (wall, tokens) = (SessionScript.start.wall, ScriptedProvider.tokens(2, now: SessionScript.start.wall))
    let saved = play(.refreshSucceeded(flight: 1, tokens, sentAt: wall), &machine)
    #expect(saved == ["save living 9 announcing tokenRefreshed"])
  }

  @Test func `a refresh that brings nothing leaves the refused login to be overwritten after it`() {
    var machine = machine()
    send(&machine)
    _ = play(Self.login, &machine)
    _ = play(.saveFailed(generation: 8), &machine)
    _ = play(.refreshFailed(flight: 1, .transient(.networkUnavailable)), &machine)
    #expect(machine.nextWake(at: SessionScript.start) == SessionScript.start.uptime)
    #expect(play(.woken, &machine) == ["save living 9"])
    _ = play(.saved(generation: 9), &machine)
    #expect(play(.woken, &machine).isEmpty)
  }

  @Test func `a fresh token is the best there is, however long the caller wanted it to live`() {
    var script = SessionScript()
    _ = script.restart()
    let long = TokenDemand(waiter: CallerID(1), minValidity: .seconds(700))
    script.pass(220)
    #expect(script.play(.tokenWanted(long)) == ["spend 1 refresh-1"])
    // The reply was slow: the token lives for 650 s still, and nothing says that another one would live longer.
    let tokens = ScriptedProvider.tokens(2, now: script.now.wall)
    let sentAt = script.now.wall
    script.pass(250)
    #expect(
      script.play(.refreshSucceeded(flight: 1, tokens, sentAt: sentAt)) == [
        "save living 8 announcing tokenRefreshed", "token 1",
      ])
  }
}
