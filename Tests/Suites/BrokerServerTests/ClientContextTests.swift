import BrokerProtocol
import TestSupport
import Testing

/// What a client gives a login to have it back.
@Suite(.standardTimeLimit) struct ClientContextTests {
  private static func credentials(_ context: String) -> String {
    #"{"email":"a@example.test","password":"right","clientContext":"\#(context)"}"#
  }

  private static let returned = #""clientContext":"request 7""#

  /// How often a text is in another one.
  private static func count(_ part: String, in text: String) -> Int { text.split(separator: part).count - 1 }

  @Test func `a session and its event come with the context, and without one where none was given`() async throws {
    try await OwnThread.run {
      let stage = try LoginStage { _ in }
      #expect(stage.call("login", Self.credentials("request 7")).hasSuffix(Self.returned + "}}"))
      #expect(stage.watcher.lines().first?.contains(#""method":"password",\#(Self.returned)}"#) == true)
      #expect(!stage.call("login", LoginStage.credentials).contains("clientContext"))
      #expect(stage.watcher.lines().allSatisfy { !$0.contains("clientContext") })
    }
  }

  @Test func `a refused login is told with its context`() async throws {
    try await OwnThread.run {
      let stage = try LoginStage { _ in }
      let wrong = #"{"email":"a@example.test","password":"wrong",\#(Self.returned)}"#
      #expect(stage.call("login", wrong).contains("invalidCredentials"))
      #expect(stage.watcher.lines().first?.contains(#"{"kind":"invalidCredentials",\#(Self.returned)}"#) == true)
    }
  }

  @Test func `a challenge keeps its context, over another code and a restart, to the session`() async throws {
    try await OwnThread.run {
      let (store, clock) = (InMemoryStore(), ManualClock())
      let first = try LoginStage(store: store, clock: clock) { $0.setWantsCode(true) }
      // In the challenge, and beside it.
      #expect(Self.count(Self.returned, in: first.call("login", Self.credentials("request 7"))) == 2)
      first.wait(30)
      #expect(first.call("resendOtp", #"{"otpFlowId":"handle-1"}"#).contains(Self.returned))
      let second = try LoginStage(store: store, clock: clock) { $0.setWantsCode(true) }
      // Whose login it is the next broker does not know: it tells who has the state directory.
      #expect(!second.call("listPendingLogins").contains(Self.returned))
      for client in [second.client, second.watcher] { client.prove() }
      #expect(second.call("listPendingLogins").contains(Self.returned))
      let wrong = second.call("verifyOtp", #"{"otpFlowId":"handle-1","code":"000000"}"#)
      #expect(wrong.contains("otpInvalid"))
      #expect(second.watcher.lines().last?.contains(#"{"kind":"otpInvalid",\#(Self.returned)}"#) == true)
      let right = second.call("verifyOtp", #"{"otpFlowId":"handle-1","code":"123456"}"#)
      #expect(right.contains("authenticated") && right.contains(Self.returned))
      #expect(second.watcher.lines().last?.contains(Self.returned) == true)
    }
  }

  @Test func `a challenge that ends is told with its context`() async throws {
    try await OwnThread.run {
      let stage = try LoginStage { $0.setWantsCode(true) }
      _ = stage.call("login", Self.credentials("request 7"))
      stage.wait(301)
      #expect(stage.watcher.lines().last?.contains(#"{"kind":"otpExpired",\#(Self.returned)}"#) == true)
    }
  }

  @Test func `what the user does elsewhere comes with the context, as does its end`() async throws {
    try await OwnThread.run {
      let stage = try LoginStage { provider in
        provider.setLoginMethods([.deviceCode])
        provider.setPolls([.pending(), .done])
      }
      let action = stage.call("login", "{\(Self.returned)}")
      #expect(Self.count(Self.returned, in: action) == 2)
      let waiting = LoginStage.line("awaitLogin", #"{"loginFlowId":"\#(try LoginStage.loginFlow(action))"}"#)
      #expect(stage.client.ask(waiting).isEmpty)
      stage.wait(5)
      stage.wait(5)
      #expect(stage.client.lines().first?.hasSuffix(Self.returned + "}}") == true)
      #expect(stage.watcher.lines().last?.contains(#""method":"deviceCode",\#(Self.returned)}"#) == true)
      #expect(stage.client.ask(waiting).first?.contains(Self.returned) == true, "and to a caller who asks late")
    }
  }

  @Test(arguments: [false, true])
  func `equal logins share one call, and each caller has its own context back`(_ wantsCode: Bool) async throws {
    try await OwnThread.run {
      let stage = try LoginStage { $0.setWantsCode(wantsCode) }
      let (second, third) = (try stage.harness.connect(), try stage.harness.connect())
      stage.harness.provider.hold()
      #expect(stage.call("login", Self.credentials("first")) == "")
      #expect(second.ask(LoginStage.line("login", Self.credentials("second"))).isEmpty)
      #expect(third.ask(LoginStage.line("login", LoginStage.credentials)).isEmpty)
      stage.harness.provider.release()
      stage.harness.settle()
      let answers = [stage.client, second, third].map { $0.lines().first ?? "" }
      #expect(stage.harness.provider.logins.count == 1)
      #expect(answers[0].hasSuffix(#""clientContext":"first"}}"#))
      #expect(answers[1].hasSuffix(#""clientContext":"second"}}"#))
      #expect(!answers[2].contains("clientContext"))
      #expect(!answers[0].contains(#""second""#) && !answers[1].contains(#""first""#))
      #expect(Self.count(#""clientContext":"second""#, in: answers[1]) == (wantsCode ? 2 : 1))
      #expect(stage.watcher.lines().allSatisfy { $0.contains(#""clientContext":"first""#) })
    }
  }

  @Test func `the longest context is given back whole`() async throws {
    try await OwnThread.run {
      let stage = try LoginStage { _ in }
      let longest = String(repeating: "ü", count: ParameterLength.clientContext / 2)
      #expect(stage.call("login", Self.credentials(longest)).contains(longest))
      #expect(stage.watcher.lines().first?.contains(longest) == true)
    }
  }
}
