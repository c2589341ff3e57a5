import BrokerCore
import BrokerProtocol
import SecretMemory
import TestSupport
import Testing

/// What a new process makes of an open intent.
extension LostReplyTests {
  @Test func `after a crash the token is replayed inside what is left of the grace, and only once`() {
    var script = script(grace: 60)
    _ = script.want(1, force: true)
    script.pass(30)
    #expect(script.restart() == ["spend 1 refresh-1"])
    // It crashes once more: the intent says that the replay was sent.
    script.pass(1)
    #expect(script.restart().isEmpty)
    #expect(script.machine.isOutcomeUnknown)
    #expect(script.want(1) == ["offline token 1"])
    script.pass(870)
    #expect(script.want(2) == ["spend 1 refresh-1"])
  }

  @Test func `a token that was sent once more, as the access token was refused, is not replayed after a crash`() {
    var script = script(grace: 60)
    _ = script.want(1, force: true)
    _ = script.want(2, refused: true)
    #expect(script.fail(1, Self.lost) == ["spend 2 refresh-1"])
    // That a client has reported the access token is forgotten: it may live.
    script.pass(1)
    #expect(script.restart().isEmpty && script.machine.isOutcomeUnknown)
    #expect(script.want(3) == ["offline token 3"])
  }

  @Test func `after a crash nothing is replayed once the grace is over, or if that cannot be told`() {
    var late = script(grace: 60)
    _ = late.want(1, force: true)
    late.pass(60)
    #expect(late.restart().isEmpty)
    #expect(late.machine.isOutcomeUnknown)
    var back = script(grace: 60)
    _ = back.want(1, force: true)
    back.setClock(by: -10)
    #expect(back.restart().isEmpty)
    #expect(back.want(2, force: true) == ["error 2 refreshOutcomeUnknown"])
  }

  @Test func `after a crash an intent of a token that does not rotate is closed`() {
    var script = script()
    _ = script.want(1, force: true)
    script.machine = SessionMachine(
      profile: .default, binding: ProviderBinding(type: "scripted"), rules: SessionRules(rotation: .never),
      tokenID: { _ in "" })
    #expect(script.restart().isEmpty)
    #expect(script.intent == nil && !script.machine.isOutcomeUnknown)
  }

  @Test func `after the access token's end a crash changes nothing: the token is sent`() {
    var script = script()
    _ = script.want(1, force: true)
    script.pass(901)
    #expect(script.restart().isEmpty)
    #expect(script.want(2) == ["spend 1 refresh-1"])
    script.pass(5)
    _ = script.restart()
    #expect(script.play(.woken) == ["spend 1 refresh-1"])
  }
}
