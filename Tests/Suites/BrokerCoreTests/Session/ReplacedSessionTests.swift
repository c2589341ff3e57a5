import BrokerCore
import BrokerProtocol
import SecretMemory
import TestSupport
import Testing

/// What a session leaves behind when a login replaces it.
@Suite(.standardTimeLimit) struct ReplacedSessionTests {
  private static func login(_ number: Int, user: String? = "user-1") -> ProviderSession {
    ProviderSession(
      tokens: ScriptedProvider.tokens(number, now: SessionScript.start.wall), user: user.map { User(id: $0) })
  }

  private static func script(user: String? = "user-1") -> SessionScript {
    var script = SessionScript(SessionRules(), SessionScript.record { $0.user = user.map { User(id: $0) } })
    _ = script.restart()
    return script
  }

  @Test func `its tokens are revoked once the login is durable, not before`() {
    var script = Self.script()
    #expect(
      script.machine.handle(.loginAccepted(Self.login(5), method: "password"), at: script.now).summary
        == ["save living 8 announcing login"])
    #expect(script.machine.handle(.saved(generation: 8), at: script.now).summary == ["revoke access-1 of user-1"])
  }

  @Test func `a login that cannot be saved revokes nothing`() {
    var script = Self.script()
    script.storeWorks = false
    let actions = script.play(.loginAccepted(Self.login(5), method: "password"))
    #expect(!actions.contains { $0.hasPrefix("revoke") }, "\(actions)")
  }

  @Test func `what a refresh brings after it is revoked as well, once`() {
    var script = Self.script()
    #expect(script.want(1, force: true) == ["spend 1 refresh-1"])
    #expect(
      script.play(.loginAccepted(Self.login(5), method: "password"))
        == ["save living 8 announcing login", "token 1", "revoke access-1 of user-1"])
    #expect(script.succeed(1) == ["revoke access-2 of user-1"])
    #expect(script.succeed(1).isEmpty)
  }

  @Test func `what came while the login was being saved is what is revoked`() {
    var script = Self.script()
    _ = script.want(1, force: true)
    _ = script.machine.handle(.loginAccepted(Self.login(5), method: "password"), at: script.now)
    #expect(script.succeed(1).isEmpty)
    let actions = script.machine.handle(.saved(generation: 8), at: script.now).summary
    #expect(actions == ["token 1", "revoke access-2 of user-1"])
  }

  @Test func `what several replaced sessions still wait for is revoked, each once`() {
    var script = Self.script()
    #expect(script.want(1, force: true) == ["spend 1 refresh-1"])
    _ = script.play(.loginAccepted(Self.login(5), method: "password"))
    #expect(script.want(2, force: true) == ["spend 2 refresh-5"])
    _ = script.play(.loginAccepted(Self.login(6, user: "user-2"), method: "password"))
    #expect(script.succeed(1) == ["revoke access-2 of user-1"])
    #expect(script.succeed(2) == ["revoke access-3 of user-1"])
    #expect(script.succeed(1).isEmpty && script.succeed(2).isEmpty)
  }

  @Test func `what a refresh brings after a logout is discarded, also beside the next session`() {
    var script = Self.script()
    #expect(script.want(1, force: true) == ["spend 1 refresh-1"])
    _ = script.play(.logoutWanted(.user))
    _ = script.play(.loginAccepted(Self.login(5), method: "password"))
    #expect(script.succeed(1) == ["discard access-2"])
    #expect(script.succeed(1).isEmpty)
  }

  @Test func `a refresh that fails after the login is over`() {
    var script = Self.script()
    _ = script.want(1, force: true)
    _ = script.play(.loginAccepted(Self.login(5), method: "password"))
    #expect(script.fail(1, .outcomeUnknown(.timeout)).isEmpty)
    #expect(script.succeed(1).isEmpty)
  }

  @Test func `a session that the provider has just ended needs no revocation, one that it may know still does`() {
    for (failure, isRevoked) in [
      (ProviderFailure.sessionEnded(.refreshRejected), false), (.reauthenticationRequired, true),
      (.outcomeUnknown(.timeout), true), (.transient(.networkUnavailable), true),
    ] {
      var script = Self.script()
      _ = script.want(1, force: true)
      _ = script.machine.handle(.loginAccepted(Self.login(5), method: "password"), at: script.now)
      #expect(script.fail(1, failure).isEmpty)
      let actions = script.machine.handle(.saved(generation: 8), at: script.now).summary
      #expect(actions == ["token 1"] + (isRevoked ? ["revoke access-1 of user-1"] : []), "\(failure)")
    }
  }

  @Test func `what a refresh brings beside a refresh token that a client gave may be of the same grant`() {
    var script = Self.script()
    _ = script.want(1, force: true)
    _ = script.play(.loginAccepted(Self.login(5), method: "refreshToken"))
    #expect(script.succeed(1).isEmpty)
  }

  @Test func `tokens of another user that a refresh brought are revoked as theirs`() {
    var script = Self.script()
    _ = script.want(1, force: true)
    _ = script.machine.handle(.loginAccepted(Self.login(5), method: "password"), at: script.now)
    #expect(script.succeed(1) { $0.subject = "user-2" }.isEmpty)
    let actions = script.machine.handle(.saved(generation: 8), at: script.now).summary
    #expect(actions == ["token 1", "revoke access-2 of user-2"])
  }

  @Test func `tokens that the new session has too are not revoked`() {
    for change: (inout TokenSet) -> Void in [
      { $0.refreshToken = BoundToken(ScriptedProvider.secret("refresh-1")) },
      { $0.accessToken = BoundToken(ScriptedProvider.secret("access-1")) },
    ] {
      var (script, session) = (Self.script(), Self.login(5))
      change(&session.tokens)
      #expect(script.play(.loginAccepted(session, method: "password")) == ["save living 8 announcing login"])
    }
  }

  @Test(
    arguments: [("user-1", "user-1", 1), ("user-1", nil, 1), (nil, "user-1", 1), ("user-1", "user-2", 2)]
      as [(String?, String?, Int)])
  func `a refresh token that a client gave may be of the same grant, unless it is another user's`(
    _ old: String?, _ new: String?, _ count: Int
  ) {
    var script = Self.script(user: old)
    #expect(script.play(.loginAccepted(Self.login(5, user: new), method: "refreshToken")).count == count)
  }

  @Test func `a session that the provider has ended is not revoked, and tells why it ended`() {
    var script = Self.script()
    #expect(script.play(.endSuspected(.passwordReset)).isEmpty)
    _ = script.want(1, force: true)
    #expect(
      script.fail(1, .sessionEnded(.refreshRejected)) == [
        "save signedOut 8 announcing logout", "error 1 loginRequired",
      ])
  }

  @Test func `a suspicion says nothing of other ends, and is over with the next tokens`() {
    var alarmed = Self.script()
    _ = alarmed.play(.endSuspected(.passwordReset))
    _ = alarmed.want(1, force: true)
    #expect(
      alarmed.fail(1, .sessionEnded(.refreshRejected, alert: .refreshTokenReuse)).first
        == "save ended refreshRejected 8 announcing securityAlert sessionExpired")
    var refreshed = Self.script()
    _ = refreshed.play(.endSuspected(.passwordReset))
    _ = refreshed.want(1, force: true)
    _ = refreshed.succeed(1)
    _ = refreshed.want(2, force: true)
    #expect(
      refreshed.fail(2, .sessionEnded(.refreshRejected)).first
        == "save ended refreshRejected 9 announcing sessionExpired")
  }

  @Test func `the end of a session that is not there is no event`() {
    var script = SessionScript(SessionRules(), nil)
    #expect(script.play(.endConfirmed(.passwordReset)).isEmpty && script.play(.endSuspected(.passwordReset)).isEmpty)
  }
}
