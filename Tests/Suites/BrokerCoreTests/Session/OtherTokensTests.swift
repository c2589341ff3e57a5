import BrokerCore
import BrokerProtocol
import SecretMemory
import TestSupport
import Testing

/// Tokens for other scopes, or another audience, than the session's own: which flight is for what, and what each answer
/// means for whom.
@Suite(.standardTimeLimit) struct OtherTokensTests {
  static let (a, b) = (TokenTarget(audience: "a"), TokenTarget(scopes: ["write", "admin"], audience: "b"))

  func script(_ rules: SessionRules = SessionRules()) -> SessionScript {
    var script = SessionScript(rules)
    _ = script.restart()
    return script
  }

  /// The access token and the refresh token of the session that is stored.
  func stored(_ script: SessionScript) -> [String?] {
    guard case .living(let session)? = script.stored?.contents else { return [] }
    return [session.tokens.accessToken.value.revealedString(), session.tokens.refreshToken?.value.revealedString()]
  }

  @Test func `scopes that the session has are the session's own token, in whatever order`() {
    var script = SessionScript(
      SessionRules(), SessionScript.record { $0.tokens.scopes = ["read", "write", "mail"] })
    _ = script.restart()
    #expect(script.want(1, TokenTarget(scopes: ["write", "read", "write"])) == ["token 1"])
    #expect(script.want(2, TokenTarget(scopes: ["write", "admin"])) == ["spend 1 refresh-1 for admin+write"])
    #expect(TokenTarget(scopes: ["b", "a", "b"]) == TokenTarget(scopes: ["a", "b"]))
  }

  @Test func `equal targets share one flight, and then one token`() {
    var script = script()
    #expect(script.want(1, Self.b) == ["spend 1 refresh-1 for admin+write@b"])
    for number in 2...50 as ClosedRange<UInt64> {
      #expect(script.want(number, TokenTarget(scopes: ["admin", "write"], audience: "b")).isEmpty)
    }
    let actions = script.succeed(1)
    #expect(actions.first == "save living 8")
    #expect(actions.dropFirst().sorted() == (1...50).map { "access-2 for admin+write@b \($0)" }.sorted())
    #expect(script.want(51, Self.b) == ["access-2 for admin+write@b 51"])
    #expect(stored(script) == ["access-1", "refresh-2"])
    #expect(script.intent == nil)
  }

  @Test func `the session's own token, and when it is refreshed, stay as they were`() {
    var script = script()
    let (wake, version) = (script.nextWake, script.machine.answerVersion)
    _ = script.want(1, Self.a)
    _ = script.succeed(1)
    #expect(script.want(2) == ["token 2"])
    #expect(script.nextWake == wake)
    #expect(script.machine.answerVersion == version)
    #expect(script.want(3, force: true) == ["spend 2 refresh-2"])
    #expect(script.succeed(2) == ["save living 9 announcing tokenRefreshed", "token 3"])
    #expect(script.want(4, Self.a) == ["access-2 for @a 4"])
  }

  @Test func `a reply without a refresh token leaves the session's, and shows nothing of its rotating`() {
    var script = script()
    _ = script.want(1, Self.a)
    _ = script.succeed(1) { $0.refreshToken = nil }
    #expect(stored(script) == ["access-1", "refresh-1"])
    #expect(script.machine.living?.rotatesRefreshToken == nil)
    _ = script.want(2, Self.b)
    _ = script.succeed(2)
    #expect(script.machine.living?.rotatesRefreshToken == true)
  }

  @Test func `a caller who has left costs no refresh, and the others are served`() {
    var script = script()
    #expect(script.want(1, Self.a) == ["spend 1 refresh-1 for @a"])
    #expect(script.want(2, Self.b).isEmpty)
    #expect(script.want(3, force: true).isEmpty)
    #expect(script.play(.waiterLeft(CallerID(2))).isEmpty && script.play(.waiterLeft(CallerID(3))).isEmpty)
    #expect(script.succeed(1) == ["save living 8", "access-2 for @a 1"])
    #expect(script.machine.activity == .resting)
  }

  @Test func `one flight at a time: the session first, then each target in turn`() {
    var script = script()
    #expect(script.want(1, Self.a) == ["spend 1 refresh-1 for @a"])
    #expect(script.want(2, Self.b).isEmpty)
    #expect(script.want(3, force: true).isEmpty)
    #expect(script.want(4, Self.a, force: true).isEmpty)
    #expect(
      script.succeed(1) == ["save living 8", "access-2 for @a 1", "access-2 for @a 4", "spend 2 refresh-2"])
    #expect(
      script.succeed(2) == [
        "save living 9 announcing tokenRefreshed", "token 3", "spend 3 refresh-3 for admin+write@b",
      ])
    #expect(script.succeed(3) == ["save living 10", "access-4 for admin+write@b 2"])
  }

  @Test(arguments: [
    (ProviderFailure.refused(.insufficientScope), ErrorKind.insufficientScope),
    (.reauthenticationRequired, .reauthRequired), (.refused(.providerRejected), .providerRejected),
    (.unsupported, .unsupportedByProvider),
  ])
  func `a refusal is the target's for a minute, and nobody else's`(_ failure: ProviderFailure, _ kind: ErrorKind) {
    var script = script()
    _ = script.want(1, Self.a)
    _ = script.want(2, Self.b)
    #expect(
      script.fail(1, failure) == ["error 1 \(kind.rawValue)", "spend 2 refresh-1 for admin+write@b"])
    #expect(script.want(3, Self.a, force: true) == ["error 3 \(kind.rawValue)"])
    #expect(script.succeed(2) == ["save living 8", "access-3 for admin+write@b 2"])
    #expect(script.want(4) == ["token 4"])
    #expect(script.machine.activity == .resting)
    script.pass(59)
    #expect(script.want(5, Self.a) == ["error 5 \(kind.rawValue)"])
    script.pass(1)
    #expect(script.want(6, Self.a) == ["spend 3 refresh-3 for @a"])
  }

  @Test func `another configuration may grant what was refused`() {
    var script = script()
    _ = script.want(1, Self.a)
    _ = script.fail(1, .refused(.insufficientScope))
    #expect(script.intent == nil)
    _ = script.play(.rulesChanged(SessionRules()))
    #expect(script.want(2, Self.a) == ["spend 2 refresh-1 for @a"])
  }

  @Test func `a refusal in doubtful words is decided by the session's own refresh, which may go on`() {
    var script = script()
    _ = script.want(1, Self.a)
    _ = script.want(2, Self.b)
    #expect(script.fail(1, .sessionEnded(.refreshRejected)) == ["spend 2 refresh-1"])
    #expect(
      script.succeed(2) == [
        "save living 8 announcing tokenRefreshed", "error 1 insufficientScope", "spend 3 refresh-3 for admin+write@b",
      ])
    #expect(script.want(3, Self.a) == ["error 3 insufficientScope"])
  }

  @Test func `or is over`() {
    var script = script()
    _ = script.want(1, Self.a)
    _ = script.want(2, Self.b)
    _ = script.fail(1, .sessionEnded(.refreshRejected))
    #expect(
      script.fail(2, .sessionEnded(.refreshRejected)) == [
        "save ended refreshRejected 8 announcing sessionExpired", "error 1 sessionExpired", "error 2 sessionExpired",
      ])
    #expect(script.want(3, Self.a) == ["error 3 sessionExpired"])
  }

  @Test func `a doubt outlives a network that is away`() {
    var script = script()
    _ = script.want(1, Self.a)
    _ = script.fail(1, .sessionEnded(.refreshRejected))
    #expect(script.fail(2, .transient(.networkUnavailable)).first == "error 1 networkUnavailable")
    script.pass(10)
    #expect(script.want(2, Self.a) == ["spend 3 refresh-1"])
    #expect(script.succeed(3).last == "error 2 insufficientScope")
  }

  @Test func `a token that was stolen ends the session at once`() {
    var script = script()
    _ = script.want(1, Self.a)
    #expect(
      script.fail(1, .sessionEnded(.refreshRejected, alert: .refreshTokenReuse)) == [
        "save ended refreshRejected 8 announcing securityAlert sessionExpired", "error 1 sessionExpired",
      ])
  }

  @Test func `where the provider is away a living token is answered as offline, and a new one is an error`() {
    var script = script()
    _ = script.want(1, Self.a)
    _ = script.succeed(1)
    script.pass(880)
    #expect(script.want(2, Self.a) == ["spend 2 refresh-2 for @a"])
    _ = script.want(3, Self.a, force: true)
    _ = script.want(4, Self.b)
    let actions = script.fail(2, .transient(.providerUnavailable))
    #expect(
      actions == [
        "offline access-2 for @a 2", "error 3 providerUnavailable", "error 4 providerUnavailable",
        "publish refreshFailed",
      ])
    // What has ended is served to nobody.
    script.pass(20)
    #expect(script.want(5, Self.a, valid: .zero) == ["spend 3 refresh-2 for @a"])
    #expect(script.fail(3, .transient(.networkUnavailable)).first == "error 5 networkUnavailable")
  }

  @Test func `a lost reply holds the refresh token back, whatever it was sent for`() {
    var script = script()
    _ = script.want(1, Self.a)
    #expect(
      script.fail(1, .outcomeUnknown(.timeout)) == ["error 1 refreshOutcomeUnknown", "publish refreshFailed"])
    #expect(script.intent != nil)
    #expect(script.want(2, Self.a) == ["error 2 refreshOutcomeUnknown"])
    #expect(script.want(3) == ["offline token 3"])
    script.pass(901)
    // What is not known of the session is asked for the session.
    #expect(script.want(4, Self.a) == ["spend 2 refresh-1"])
    #expect(script.succeed(2) == ["save living 8 announcing tokenRefreshed", "spend 3 refresh-3 for @a"])
    #expect(script.succeed(3) == ["save living 9", "access-4 for @a 4"])
  }

  @Test func `a replay is for the session, and the target comes after it`() {
    var script = script(SessionRules(rotationGrace: .seconds(60)))
    _ = script.want(1, Self.a)
    #expect(script.fail(1, .outcomeUnknown(.timeout)) == ["spend 2 refresh-1"])
    #expect(script.succeed(2) == ["save living 8 announcing tokenRefreshed", "spend 3 refresh-3 for @a"])
  }

  @Test func `an open intent after a crash is the session's, whatever it was sent for`() {
    var script = script()
    _ = script.want(1, Self.a)
    #expect(script.intent != nil)
    _ = script.restart()
    #expect(script.machine.isOutcomeUnknown)
    #expect(script.want(2, Self.a) == ["error 2 refreshOutcomeUnknown"])
    #expect(script.want(3) == ["offline token 3"])
  }

  @Test func `tokens rest in no store, and are got once more after a restart`() {
    var script = script()
    _ = script.want(1, Self.a)
    _ = script.succeed(1)
    _ = script.restart()
    #expect(script.want(2, Self.a) == ["spend 1 refresh-2 for @a"])
  }

  @Test func `a disk that is full delays the next flight, not this answer`() {
    var script = script()
    _ = script.want(1, Self.a)
    _ = script.want(2, Self.b)
    script.storeWorks = false
    #expect(script.succeed(1) == ["save living 8", "access-2 for @a 1", "saveAgain"])
    #expect(script.machine.isStoreDegraded)
    #expect(script.want(3, Self.a) == ["access-2 for @a 3"])
    script.storeWorks = true
    #expect(script.play(.saved(generation: 8)) == ["spend 2 refresh-2 for admin+write@b"])
  }
}
