import BrokerCore
import BrokerProtocol
import SecretMemory
import TestSupport
import Testing

/// Other tokens where the session, the provider or the number of targets ends them.
extension OtherTokensTests {
  @Test func `a login that fails is no reason to tell of tokens that did not change`() {
    var script = script()
    _ = script.want(1, Self.a)
    script.storeWorks = false
    _ = script.succeed(1)
    let session = ProviderSession(tokens: ScriptedProvider.tokens(5, now: script.now.wall), user: nil)
    let actions = script.play(.loginAccepted(session, method: "password"))
    #expect(actions == ["save living 9 announcing login", "save living 10"])
    script.storeWorks = true
    #expect(stored(script) == ["access-1", "refresh-1"])
    #expect(script.machine.living?.tokens.refreshToken?.value.revealedString() == "refresh-2")
  }

  @Test func `another session has no token of the one before, and callers wait for its own`() {
    var script = script()
    _ = script.want(1, Self.a)
    _ = script.succeed(1)
    let session = ProviderSession(tokens: ScriptedProvider.tokens(5, now: script.now.wall), user: nil)
    _ = script.play(.loginAccepted(session, method: "password"))
    #expect(script.want(2, Self.a) == ["spend 2 refresh-5 for @a"])
    _ = script.play(.logoutWanted(.user))
    #expect(script.want(3, Self.a) == ["error 3 loginRequired"])
    #expect(script.want(4, Self.a, waits: true).isEmpty)
    #expect(script.want(5, TokenTarget(scopes: ["read"]), waits: true).isEmpty)
    #expect(script.want(6, Self.b, waits: true, isGivable: false).isEmpty)
    #expect(
      script.play(.loginAccepted(session, method: "password")) == [
        "save living 11 announcing login", "token 5", "error 6 insufficientScope", "spend 3 refresh-5 for @a",
      ])
  }

  @Test func `what the provider cannot give is refused without a flight, unless the session's own token will do`() {
    var script = script()
    #expect(script.want(1, TokenTarget(scopes: ["write"]), isGivable: false) == ["error 1 insufficientScope"])
    #expect(script.want(2, TokenTarget(scopes: ["read"]), isGivable: false) == ["token 2"])
  }

  @Test func `a session without a refresh token has its own token and no other`() {
    var script = SessionScript(SessionRules(), SessionScript.record { $0.tokens.refreshToken = nil })
    _ = script.restart()
    #expect(script.want(1, Self.a) == ["error 1 insufficientScope"])
    #expect(script.want(2) == ["token 2"])
  }

  @Test func `a token without an end is served until it is refused, and asked for again then`() {
    var script = script()
    _ = script.want(1, Self.a)
    _ = script.succeed(1) { $0.accessTokenExpiresAt = nil }
    script.pass(300)
    #expect(script.want(2, Self.a) == ["access-2 for @a 2"])
    #expect(script.want(3, Self.a, refused: true) == ["spend 2 refresh-2 for @a"])
    #expect(script.fail(2, .transient(.networkUnavailable)).first == "error 3 networkUnavailable")
    #expect(script.want(4, Self.a) == ["error 4 networkUnavailable"])
  }

  @Test func `as many tokens are kept as a gateway needs, and the one that ends first goes`() {
    var script = script(SessionRules(rotation: .never))
    for number in 1...65 as ClosedRange<UInt64> {
      _ = script.want(number, TokenTarget(audience: "a\(number)"))
      // The last but one has a short life; it was used as lately as any.
      let soon = script.now.wall + .seconds(60)
      _ = script.succeed(number) { if number == 64 { $0.accessTokenExpiresAt = soon } }
      script.pass(1)
    }
    for number in 1...63 as ClosedRange<UInt64> {
      let target = TokenTarget(audience: "a\(number)")
      #expect(script.want(100 + number, target) == ["access-\(number + 1) for @a\(number) \(100 + number)"])
    }
    #expect(script.want(200, TokenTarget(audience: "a64")) == ["spend 66 refresh-66 for @a64"])
  }

  @Test func `what a token was for is known for longer than the token`() {
    var script = script(SessionRules(rotation: .never))
    for number in 1...65 as ClosedRange<UInt64> {
      _ = script.want(number, TokenTarget(audience: "a\(number)"))
      _ = script.succeed(number)
      script.pass(1)
    }
    #expect(script.want(200, TokenTarget(audience: "a1")) == ["spend 66 refresh-66 for @a1"])
    #expect(script.machine.target(ofTokenNamed: "id-access-2") == TokenTarget(audience: "a1"))
    #expect(!script.machine.isCurrent(tokenNamed: "id-access-2", for: TokenTarget(audience: "a1")))
    #expect(script.machine.isCurrent(tokenNamed: "id-access-3", for: TokenTarget(audience: "a2")))
    #expect(script.machine.target(ofTokenNamed: "id-access-1") == nil)
  }
}
