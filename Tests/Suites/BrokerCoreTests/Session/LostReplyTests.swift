import BrokerCore
import BrokerProtocol
import SecretMemory
import TestSupport
import Testing

/// What becomes of a session when the reply to a refresh is lost, or the broker ends before it comes.
@Suite(.standardTimeLimit) struct LostReplyTests {
  static let lost = ProviderFailure.outcomeUnknown(.timeout)
  static let refusal = ProviderFailure.sessionEnded(.refreshRejected, alert: .refreshTokenReuse)

  func script(
    _ rotation: Rotation = .auto, grace: Int = 0, _ change: (inout LivingSession) -> Void = { _ in }
  ) -> SessionScript {
    var script = SessionScript(
      SessionRules(rotation: rotation, rotationGrace: .seconds(grace)), SessionScript.record(change))
    _ = script.restart()
    return script
  }

  @Test func `while the access token lives it is served, and a forced refresh is told when to come again`() {
    var script = script()
    #expect(script.want(1, force: true) == ["spend 1 refresh-1"])
    #expect(script.fail(1, Self.lost) == ["error 1 refreshOutcomeUnknown", "publish refreshFailed"])
    script.pass(400)
    #expect(script.want(2) == ["offline token 2"])
    let actions = script.machine.handle(
      .tokenWanted(TokenDemand(waiter: CallerID(3), forcesRefresh: true)), at: script.now)
    guard case .answerError(_, let error)? = actions.first else {
      Issue.record("no error")
      return
    }
    #expect(error.retryAfter == .seconds(500) && error.nextAction == .wait && error.isRetryable)
    #expect(script.nextWake == 500)
  }

  @Test func `a token that is nearly over is still served to its end`() {
    var script = script()
    _ = script.want(1, force: true)
    _ = script.fail(1, Self.lost)
    script.pass(890)
    #expect(script.want(2) == ["offline token 2"])
    script.pass(10)
    #expect(script.want(3) == ["spend 2 refresh-1"])
  }

  @Test func `after the end it stays unknown, whatever passing answers come, until a definitive one`() {
    var script = script()
    _ = script.want(1, force: true)
    _ = script.fail(1, Self.lost)
    script.pass(901)
    #expect(script.play(.woken) == ["spend 2 refresh-1"])
    let busy = ProviderFailure.transient(.providerUnavailable, retryAfter: .seconds(40))
    #expect(script.fail(2, busy) == ["publish refreshFailed"])
    #expect(script.want(2) == ["error 2 refreshOutcomeUnknown"])
    #expect(script.machine.isOutcomeUnknown && script.intent != nil)
    #expect(script.nextWake == 40)
    script.pass(40)
    #expect(script.play(.woken) == ["spend 3 refresh-1"])
    _ = script.fail(3, Self.lost)
    script.pass(1)
    _ = script.play(.woken)
    #expect(script.fail(4, .misconfigured(.scopes)) == ["publish refreshFailed"])
    #expect(script.machine.isOutcomeUnknown)
    script.pass(10)
    _ = script.want(3)
    #expect(
      script.fail(5, Self.refusal) == [
        "save ended refreshOutcomeUnknown 8 announcing sessionExpired", "error 3 sessionExpired",
      ])
  }

  @Test func `a success after the end saves the session`() {
    var script = script()
    _ = script.want(1, force: true)
    _ = script.fail(1, Self.lost)
    script.pass(901)
    _ = script.want(2)
    #expect(script.succeed(2) == ["save living 8 announcing tokenRefreshed", "token 2"])
    #expect(!script.machine.isOutcomeUnknown && script.intent == nil)
  }

  @Test func `a token that is not rotated is not missed: the failure is a passing one, without an intent`() {
    for (rotation, learnt) in [(Rotation.never, nil), (.never, true), (.auto, false)] {
      var script = script(rotation) { $0.rotatesRefreshToken = learnt }
      #expect(
        script.machine.handle(.tokenWanted(TokenDemand(waiter: CallerID(1), forcesRefresh: true)), at: script.now)
          .summary == ["spend 1 refresh-1"])
      #expect(script.fail(1, Self.lost) == ["error 1 timeout", "publish refreshFailed"])
      #expect(!script.machine.isOutcomeUnknown)
      script.pass(1)
      #expect(script.want(2, force: true) == ["spend 2 refresh-1"])
    }
  }

  @Test func `a token that is always rotated is missed, whatever was learnt`() {
    var script = script(.always) { $0.rotatesRefreshToken = false }
    _ = script.want(1, force: true)
    #expect(script.fail(1, Self.lost).first == "error 1 refreshOutcomeUnknown")
  }

  @Test func `one reply, or two, without another token teach nothing: what is lost then is missed`() {
    for count in 0...3 as ClosedRange<UInt64> {
      var script = script()
      for flight in 0..<count {
        _ = script.want(flight + 1, force: true)
        _ = script.succeed(flight + 1) { $0.refreshToken = nil }
      }
      #expect(script.machine.living?.mayRotate == (count < 3))
      _ = script.want(9, force: true)
      #expect(script.intent != nil)
      let told = script.fail(count + 1, Self.lost)
      #expect(told.first == (count < 3 ? "error 9 refreshOutcomeUnknown" : "error 9 timeout"), "\(count)")
      script.pass(20)
      #expect(script.want(10, force: true).first?.hasPrefix("spend") == (count == 3))
    }
  }

  @Test func `a crash is no lost reply: the provider may just have begun to rotate`() {
    var script = script { $0.unrotatedReplies = 3 }
    _ = script.want(1, force: true)
    #expect(script.restart().isEmpty)
    #expect(script.want(2, force: true) == ["error 2 refreshOutcomeUnknown"])
    script.pass(901)
    #expect(script.want(3) == ["spend 1 refresh-1"])
  }

  @Test func `replies teach whether the token rotates, and that it does is never forgotten`() {
    var script = script()
    for (flight, keeps, learnt) in [(1, true, nil), (2, false, true), (3, true, true)] as [(Int, Bool, Bool?)] {
      _ = script.want(UInt64(flight), force: true)
      _ = script.succeed(UInt64(flight)) { tokens in if keeps { tokens.refreshToken = nil } }
      #expect(script.machine.living?.rotatesRefreshToken == learnt, "\(flight)")
    }
    _ = script.want(4, force: true)
    let same = script.machine.living?.tokens.refreshToken
    _ = script.succeed(4) { $0.refreshToken = same }
    #expect(script.machine.living?.rotatesRefreshToken == true)
    _ = script.play(
      .loginAccepted(
        ProviderSession(tokens: ScriptedProvider.tokens(9, now: script.now.wall), user: nil), method: "password"))
    #expect(script.machine.living?.rotatesRefreshToken == true)
  }

  @Test func `the same token given back is one that does not rotate`() {
    var script = script()
    _ = script.want(1, force: true)
    _ = script.succeed(1) { $0.refreshToken = BoundToken(ScriptedProvider.secret("refresh-1")) }
    #expect(script.machine.living?.unrotatedReplies == 1)
  }

  @Test func `inside a grace the token is sent exactly once more, and whoever waits waits on`() {
    var script = script(grace: 60)
    _ = script.want(1, force: true)
    script.pass(20)
    #expect(script.fail(1, Self.lost) == ["spend 2 refresh-1"])
    #expect(script.want(2, force: true).isEmpty)
    #expect(
      script.fail(2, Self.lost) == [
        "error 1 refreshOutcomeUnknown", "error 2 refreshOutcomeUnknown", "publish refreshFailed",
      ])
    #expect(script.want(3, force: true) == ["error 3 refreshOutcomeUnknown"])
    #expect(script.nextWake == 880)
  }

  @Test func `a replay that succeeds is as good as the first try`() {
    var script = script(grace: 60)
    _ = script.want(1, force: true)
    _ = script.fail(1, Self.lost)
    #expect(script.succeed(2) == ["save living 8 announcing tokenRefreshed", "token 1"])
  }

  @Test func `the grace is counted from when the token was sent`() {
    var script = script(grace: 60)
    _ = script.want(1, force: true)
    script.pass(60)
    #expect(script.fail(1, Self.lost) == ["error 1 refreshOutcomeUnknown", "publish refreshFailed"])
  }

  @Test func `a disk that is slow does not stretch the grace`() {
    var script = script(grace: 60)
    _ = script.want(1, force: true)
    script.pass(59)
    let actions = script.machine.handle(.refreshFailed(flight: 1, Self.lost), at: script.now, jitter: 0)
    #expect(actions.summary == ["openIntent 2 of 7"])
    script.pass(1)
    #expect(script.play(.intentSaved(flight: 2)) == ["error 1 refreshOutcomeUnknown"])
  }

  @Test(arguments: [
    ProviderFailure.transient(.networkUnavailable), .transient(.timeout), .transient(.tlsFailed),
    .transient(.tlsPinMismatch), .transient(.overloaded), .transient(.internal),
    .credentialMissing(MissingCredential("x", "y")),
  ])
  func `a replay that never left is tried again inside the grace`(failure: ProviderFailure) {
    var script = script(grace: 60)
    _ = script.want(1, force: true)
    _ = script.fail(1, Self.lost)
    #expect(script.fail(2, failure, jitter: 1).first == "error 1 refreshOutcomeUnknown")
    #expect(script.nextWake == 1)
    script.pass(1)
    #expect(script.play(.woken) == ["spend 3 refresh-1"])
  }

  @Test func `a replay that the provider has refused for now is not sent again while the access token lives`() {
    var script = script(grace: 60)
    _ = script.want(1, force: true)
    _ = script.fail(1, Self.lost)
    #expect(script.fail(2, .transient(.providerUnavailable), jitter: 1).first == "error 1 refreshOutcomeUnknown")
    script.pass(1)
    #expect(script.play(.woken).isEmpty)
  }

  @Test func `an access token without an end is served until a server has refused it`() {
    var script = script { $0.tokens.accessTokenExpiresAt = nil }
    _ = script.want(1, force: true)
    _ = script.fail(1, Self.lost)
    script.pass(1_000_000)
    // Only the refresh token has an end, and the provider decides about that.
    #expect(script.want(2) == ["offline token 2"])
    #expect(script.want(3, force: true) == ["error 3 refreshOutcomeUnknown"])
    #expect(script.nextWake == nil)
  }

  @Test func `an access token without an end that a server refuses has nothing left to lose`() {
    var script = script {
      $0.tokens.accessTokenExpiresAt = nil
      $0.tokens.refreshTokenExpiresAt = nil
    }
    _ = script.want(1, force: true)
    _ = script.fail(1, Self.lost)
    let version = script.machine.answerVersion
    #expect(script.want(2, refused: true) == ["spend 2 refresh-1"])
    #expect(script.machine.answerVersion > version)
    _ = script.fail(2, .transient(.networkUnavailable))
    #expect(script.want(3) == ["error 3 refreshOutcomeUnknown"])
    script.pass(5)
    _ = script.want(4)
    #expect(script.succeed(3) { $0.accessTokenExpiresAt = nil }.last == "token 4")
    #expect(script.want(5) == ["token 5"])
  }

  @Test func `an access token that a server has refused counts as ended, whatever end it has`() {
    var script = script()
    _ = script.want(1, force: true)
    _ = script.fail(1, Self.lost)
    let version = script.machine.answerVersion
    #expect(script.want(2, refused: true) == ["spend 2 refresh-1"])
    #expect(script.machine.answerVersion > version)
    #expect(
      script.fail(2, .transient(.networkUnavailable)) == ["error 2 refreshOutcomeUnknown", "publish refreshFailed"])
    // It is served no more, and what is due is asked for without being asked.
    #expect(script.want(3) == ["error 3 refreshOutcomeUnknown"])
    #expect(script.nextWake == 0)
    script.pass(5)
    #expect(script.play(.woken) == ["spend 3 refresh-1"])
    #expect(script.succeed(3) == ["save living 8 announcing tokenRefreshed"])
    #expect(script.want(4) == ["token 4"])
  }

  @Test func `an access token that a server refuses while a reply is awaited is not served after the reply is lost`() {
    var script = script()
    _ = script.want(1, force: true)
    #expect(script.want(2, refused: true).isEmpty)
    #expect(script.fail(1, Self.lost).last == "publish refreshFailed")
    #expect(script.nextWake == 0)
    script.pass(1)
    #expect(script.play(.woken) == ["spend 2 refresh-1"])
  }

  @Test func `a provider that wants to see the user ends the session in its own way`() {
    var script = script()
    _ = script.want(1, force: true)
    #expect(
      script.fail(1, .reauthenticationRequired) == [
        "save reauthenticationRequired 8 announcing sessionExpired", "error 1 reauthRequired",
      ])
    #expect(script.restart().isEmpty)
    #expect(script.want(2) == ["error 2 reauthRequired"])
    _ = script.play(.logoutWanted(.user))
    #expect(script.want(3) == ["error 3 loginRequired"])
  }
}
