import BrokerCore
import BrokerProtocol
import TestSupport
import Testing

/// What a password that was reset by mail means for sessions: nothing says whose token it was.
@Suite(.standardTimeLimit) struct PasswordResetTests {
  /// Ann on the profile a, Bob on the profile b, at one provider; and a watcher of all events.
  private struct Stage {
    let harness: ServerHarness
    let client: TestClient
    let watcher: TestClient

    init(_ prepare: (ScriptedProvider) -> Void = { _ in }) throws {
      harness = try ServerHarness(profiles: ["a", "b"], prepare: prepare)
      client = try harness.connect()
      watcher = try harness.connect()
      _ = call("login", #"{"profile":"a","email":"ann@example.test","password":"right"}"#)
      harness.provider.setUser("user-2")
      _ = call("login", #"{"profile":"b","email":"bob@example.test","password":"right"}"#)
      _ = watcher.ask(#"{"jsonrpc":"2.0","id":1,"method":"subscribe"}"#)
    }

    func call(_ method: String, _ params: String = "{}") -> String {
      client.ask(#"{"jsonrpc":"2.0","id":9,"method":"\#(method)","params":\#(params)}"#).first ?? ""
    }

    func reset(_ profile: String = "a") -> String {
      call("resetPassword", #"{"profile":"\#(profile)","token":"t","password":"new"}"#)
    }

    func state(of profile: String) -> String {
      let answer = call("getSession", #"{"profile":"\#(profile)"}"#)
      return answer.split(separator: #""state":""#).last.map { String($0.prefix { $0 != "\"" }) } ?? answer
    }
  }

  @Test func `the session that the provider has ended ends, on whatever profile it is, and no other`() async throws {
    try await OwnThread.run {
      let stage = try Stage()
      stage.harness.provider.end(refreshTokens: "refresh-2")
      #expect(stage.reset().contains(#""result":{}"#))
      #expect(stage.state(of: "a") == "authenticated" && stage.state(of: "b") == "signedOut")
      let events = stage.watcher.lines()
      #expect(events.filter { $0.contains(#""event":"logout""#) }.count == 1, "\(events)")
      #expect(events.contains { $0.contains(#""profile":"b""#) && $0.contains("passwordReset") }, "\(events)")
      #expect(events.allSatisfy { !$0.contains("sessionExpired") })
      #expect(stage.harness.provider.spentTokens.sorted() == ["refresh-1", "refresh-2"], "each is looked at once")
      #expect(stage.harness.provider.revocations == 0)
      #expect(stage.call("getAccessToken", #"{"profile":"b"}"#).contains("loginRequired"))
      guard case .signedOut? = stage.harness.store.records.last?.contents else {
        Issue.record("the end is not durable")
        return
      }
    }
  }

  @Test(arguments: [
    ProviderFailure.transient(.networkUnavailable), .outcomeUnknown(.timeout), .transient(.providerUnavailable),
    .misconfigured(.client),
  ])
  func `a look that comes to nothing ends no session`(_ failure: ProviderFailure) async throws {
    try await OwnThread.run {
      let stage = try Stage()
      stage.harness.provider.setRefresh(.fails(failure))
      #expect(stage.reset("b").contains(#""result":{}"#))
      for profile in ["a", "b"] {
        #expect(stage.call("getAccessToken", #"{"profile":"\#(profile)"}"#).contains("access-"))
      }
      #expect(stage.watcher.lines().allSatisfy { !$0.contains(#""event":"logout""#) })
    }
  }

  @Test func `a session without a refresh token is looked at by its user`() async throws {
    try await OwnThread.run {
      let stage = try Stage { $0.setComesWithoutRefreshToken(true) }
      stage.harness.provider.refuse(accessToken: "access-2")
      #expect(stage.reset().contains(#""result":{}"#))
      #expect(stage.state(of: "a") == "authenticated" && stage.state(of: "b") == "signedOut")
      #expect(stage.watcher.lines().filter { $0.contains("passwordReset") }.count == 1)
      #expect(stage.harness.provider.accountCalls == ["resetPassword", "currentUser", "currentUser"])
    }
  }

  @Test func `a refresh that was under way before is no answer`() async throws {
    try await OwnThread.run {
      let stage = try Stage()
      stage.harness.provider.hold()
      stage.client.send(
        #"{"jsonrpc":"2.0","id":7,"method":"getAccessToken","params":{"profile":"b","forceRefresh":true}}"# + "\n")
      stage.client.send(
        #"{"jsonrpc":"2.0","id":8,"method":"resetPassword","params":{"profile":"b","token":"t","password":"n"}}"# + "\n"
      )
      stage.harness.provider.end(refreshTokens: "refresh-3", "refresh-4")
      stage.harness.provider.release()
      stage.harness.settle()
      let answers = stage.client.lines()
      #expect(answers.contains { $0.contains(#""id":8,"result":{}"#) }, "\(answers)")
      #expect(stage.state(of: "b") == "signedOut")
      #expect(stage.watcher.lines().contains { $0.contains("passwordReset") })
    }
  }

  @Test(arguments: [false, true])
  func `a login that is being saved is looked at once it is durable`(_ isFirst: Bool) async throws {
    try await OwnThread.run {
      let stage = try Stage()
      stage.client.prove()
      if isFirst { _ = stage.call("logout", #"{"profile":"b"}"#) }
      _ = stage.watcher.lines()
      stage.harness.provider.end(refreshTokens: "refresh-2", "refresh-3")
      stage.harness.store.hold()
      stage.client.send(
        #"{"jsonrpc":"2.0","id":7,"method":"login","params":{"profile":"b","email":"bob@example.test","password":"right"}}"#
          + "\n")
      stage.harness.settle()
      stage.client.send(
        #"{"jsonrpc":"2.0","id":8,"method":"resetPassword","params":{"profile":"b","token":"t","password":"n"}}"# + "\n"
      )
      stage.harness.settle()
      stage.harness.store.release()
      stage.harness.settle()
      let answers = stage.client.lines()
      #expect(answers.contains { $0.contains(#""id":7,"result""#) }, "\(answers)")
      #expect(answers.contains { $0.contains(#""id":8,"result":{}"#) }, "\(answers)")
      #expect(stage.state(of: "a") == "authenticated" && stage.state(of: "b") == "signedOut")
      #expect(stage.watcher.lines().filter { $0.contains("passwordReset") }.count == 1)
    }
  }

  @Test func `a reset that the provider refuses is no reason to look at anything`() async throws {
    try await OwnThread.run {
      let stage = try Stage()
      stage.harness.provider.setAccountFailure(.refused(.validationFailed, fields: ["token"]))
      #expect(stage.reset().contains("validationFailed"))
      #expect(stage.harness.provider.spentTokens.isEmpty)
    }
  }

  @Test func `a deleted account ends its sessions on all profiles`() async throws {
    try await OwnThread.run {
      let stage = try Stage()
      _ = stage.call("login", #"{"profile":"a","email":"bob@example.test","password":"right"}"#)
      _ = stage.watcher.lines()
      stage.harness.provider.end(refreshTokens: "refresh-2", "refresh-3")
      #expect(stage.call("deleteAccount", #"{"profile":"a","password":"right"}"#).contains(#""result":{}"#))
      #expect(stage.state(of: "a") == "signedOut" && stage.state(of: "b") == "signedOut")
      let ends = stage.watcher.lines().filter { $0.contains("accountDeleted") }
      #expect(ends.count == 2, "\(ends)")
    }
  }

  @Test func `a lost reply to a token from a mail says that it may be used up`() async throws {
    try await OwnThread.run {
      let stage = try Stage()
      stage.harness.provider.setAccountFailure(.outcomeUnknown(.timeout))
      #expect(stage.reset().contains(#""kind":"timeout","nextAction":"login","retryable":false"#))
    }
  }
}
