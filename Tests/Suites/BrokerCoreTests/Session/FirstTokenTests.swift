import BrokerCore
import BrokerProtocol
import SecretMemory
import TestSupport
import Testing

/// Sessions that need no login: one request for the first token, whoever wants it.
@Suite(.standardTimeLimit) struct FirstTokenTests {
  /// A machine without a session, which needs no login.
  private static var unattended: SessionScript {
    var script = SessionScript(SessionRules(), nil)
    script.machine.isUnattended = true
    return script
  }

  private static func tokens(_ number: Int, _ now: Moment) -> TokenSet {
    ScriptedProvider.tokens(number, now: now.wall)
  }

  private static func fetched(_ flight: UInt64, _ script: SessionScript, _ number: Int = 1) -> SessionMachine.Event {
    .firstFetched(flight: flight, tokens(number, script.now), grant: "exchange", sentAt: script.now)
  }

  @Test func `callers share one request, and all get its token once it is saved`() {
    var script = Self.unattended
    #expect(script.want(1) == ["request 1"])
    #expect(script.want(2) == [])
    #expect(script.play(Self.fetched(1, script)) == ["save living 1 announcing login", "token 1", "token 2"])
    #expect(script.want(3) == ["token 3"])
  }

  @Test func `the request outlives its callers`() {
    var script = Self.unattended
    #expect(script.want(1) == ["request 1"])
    #expect(script.play(.waiterLeft(CallerID(1))) == [])
    #expect(script.want(2) == [])
    #expect(script.play(Self.fetched(1, script)) == ["save living 1 announcing login", "token 2"])
  }

  @Test func `a failure is told to all, and holds callers off for a while`() {
    var script = Self.unattended
    let failure = ProviderFailure.transient(.networkUnavailable)
    #expect(script.want(1) + script.want(2) == ["request 1"])
    #expect(
      script.play(.firstFailed(flight: 1, failure)) == ["error 1 networkUnavailable", "error 2 networkUnavailable"])
    #expect(script.want(3) == ["error 3 networkUnavailable"])
    script.pass(11)
    #expect(script.want(4) == ["request 2"])
    #expect(script.play(.firstFailed(flight: 1, failure)) == [], "it is over")
    #expect(script.play(Self.fetched(2, script)) == ["save living 1 announcing login", "token 4"])
  }

  @Test(arguments: [
    SessionMachine.Event.subjectReplaced, .rulesChanged(SessionRules()), .providerSeen(.serving),
  ])
  func `what may have cured it is tried at once`(_ cure: SessionMachine.Event) {
    var script = Self.unattended
    _ = script.want(1) + script.play(.firstFailed(flight: 1, .misconfigured(.client)))
    #expect(script.want(2) == ["error 2 providerRejected"])
    #expect(script.play(cure) == [])
    #expect(script.want(3) == ["request 2"])
  }

  @Test func `what is not saved is not given, and no caller waits for ever`() {
    var script = Self.unattended
    script.storeWorks = false
    _ = script.want(1)
    let told = script.play(Self.fetched(1, script))
    #expect(told.contains("error 1 storeFailed") && !told.contains("token 1"), "\(told)")
    script.storeWorks = true
    #expect(script.want(2) == ["request 2"])
  }

  @Test func `after a logout the answer is revoked, and the next caller begins again`() {
    var script = Self.unattended
    _ = script.want(1)
    #expect(script.play(.logoutWanted(.user)) == ["error 1 loginRequired"])
    #expect(script.play(Self.fetched(1, script)) == ["discard access-1"])
    #expect(script.want(2) == ["request 2"])
  }

  @Test func `a session that has ended begins again`() {
    var script = SessionScript(SessionRules(idleTimeout: .seconds(60)))
    script.machine.isUnattended = true
    _ = script.restart()
    script.machine.isUnattended = true
    script.pass(3600)
    #expect(script.want(1).last == "request 1")
    #expect(script.play(Self.fetched(1, script, 9)).last == "token 1")
  }

  @Test func `a token of an earlier subject is not given any more where there may be one of the present one`() {
    var script = Self.unattended
    _ = script.want(1) + script.play(Self.fetched(1, script))
    #expect(script.want(2) == ["token 2"])
    #expect(script.play(.subjectReplaced) == [])
    let asked = script.want(3)
    #expect(asked.contains { $0.hasPrefix("spend 1") }, "\(asked)")
    let answered = script.play(
      .refreshSucceeded(flight: 1, Self.tokens(2, script.now), sentAt: script.now.wall))
    #expect(answered.last == "token 3", "\(answered)")
    #expect(script.want(4) == ["token 4"])
  }

  @Test func `where no one logs in for it, a session without a login is refused as ever`() {
    var script = SessionScript(SessionRules(), nil)
    #expect(script.want(1) == ["error 1 loginRequired"])
  }
}
