import BrokerCore
import BrokerProtocol
import TestSupport
import Testing

/// Whose tokens a refresh has brought (OpenID Connect Core, section 12.2).
@Suite(.standardTimeLimit) struct TokenSubjectTests {
  private func script(user: User?) -> SessionScript {
    var script = SessionScript(SessionRules(), SessionScript.record { $0.user = user })
    _ = script.restart()
    return script
  }

  @Test func `tokens of another user are nobody's here: the session ends, and they are given back`() {
    var script = script(user: User(id: "u1"))
    #expect(script.want(1, force: true) == ["spend 1 refresh-1"])
    #expect(
      script.succeed(1) { $0.subject = "u2" } == [
        "discard access-2", "save ended securityTermination 8 announcing securityAlert sessionExpired",
        "error 1 sessionExpired",
      ])
    #expect(script.machine.living == nil && script.intent == nil)
    #expect(script.want(2) == ["error 2 sessionExpired"])
  }

  @Test(arguments: ["u1", nil])
  func `tokens of the session's user, or of nobody who is named, are the session's`(_ subject: String?) {
    var script = script(user: User(id: "u1"))
    _ = script.want(1, force: true)
    #expect(
      script.succeed(1) { $0.subject = subject } == ["save living 8 announcing tokenRefreshed", "token 1"])
    // It is looked at once.
    guard case .living(let session)? = script.stored?.contents else {
      Issue.record("a living session is stored")
      return
    }
    #expect(session.tokens.subject == nil && session.user?.id == "u1")
  }

  @Test func `the first refresh that says whose the tokens are says so for good`() {
    var script = script(user: nil)
    _ = script.want(1, force: true)
    _ = script.succeed(1) { $0.subject = "u2" }
    #expect(script.machine.living?.user?.id == "u2")
    _ = script.want(2, force: true)
    #expect(
      script.succeed(2) { $0.subject = "u3" } == [
        "discard access-3", "save ended securityTermination 9 announcing securityAlert sessionExpired",
        "error 2 sessionExpired",
      ])
  }

  @Test func `a session whose user is not known has nobody to compare with`() {
    var script = script(user: nil)
    _ = script.want(1, force: true)
    #expect(script.succeed(1) { $0.subject = "u2" } == ["save living 8 announcing tokenRefreshed", "token 1"])
  }
}
