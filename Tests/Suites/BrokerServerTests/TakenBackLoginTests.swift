import BrokerCore
import BrokerProtocol
import TestSupport
import Testing

/// What becomes of a login that its caller takes back with `$/cancelRequest`.
@Suite(.standardTimeLimit) struct TakenBackLoginTests {
  private static let takeBack = #"{"jsonrpc":"2.0","method":"$/cancelRequest","params":{"id":9}}"#
  private static let registration = #"{"email":"a@example.test","password":"example password"}"#

  @Test(arguments: [("login", LoginStage.credentials), ("register", registration)])
  func `the session of a login that was taken back is given back`(_ method: String, _ params: String) async throws {
    try await OwnThread.run {
      let stage = try LoginStage { _ in }
      stage.harness.provider.hold()
      #expect(stage.call(method, params) == "")
      let answers = stage.client.ask(Self.takeBack)
      #expect(answers.count == 1 && answers[0].contains("-32800"), "\(answers)")
      stage.harness.provider.release()
      stage.harness.settle()
      #expect(stage.client.lines().isEmpty && stage.events.isEmpty)
      #expect(stage.call("getSession").contains(#""state":"signedOut""#))
      #expect(stage.harness.provider.revocations == 1)
    }
  }

  @Test func `its end is told at once where a provider ends whole grants`() async throws {
    try await OwnThread.run {
      let stage = try LoginStage { $0.setRevokesWholeGrants() }
      stage.harness.provider.hold()
      #expect(stage.call("login", LoginStage.credentials) == "")
      _ = stage.client.ask(Self.takeBack)
      stage.harness.provider.release()
      stage.harness.settle()
      #expect(stage.harness.provider.revocations == 1)
    }
  }

  @Test func `the session that a profile has goes on`() async throws {
    try await OwnThread.run {
      let stage = try LoginStage { _ in }
      #expect(stage.call("login", LoginStage.credentials).contains("authenticated"))
      let token = stage.call("getAccessToken")
      stage.harness.provider.hold()
      for (method, params) in [("login", LoginStage.credentials), ("reauthenticate", #"{"password":"right"}"#)] {
        #expect(stage.call(method, params) == "")
        #expect(stage.client.ask(Self.takeBack).count == 1)
      }
      stage.harness.provider.release()
      stage.harness.settle()
      #expect(stage.call("getAccessToken") == token)
      #expect(stage.events == ["login"])
    }
  }

  @Test func `an equal login of somebody else goes on, and one that comes later asks anew`() async throws {
    try await OwnThread.run {
      let stage = try LoginStage { _ in }
      let other = try stage.harness.connect()
      stage.harness.provider.hold()
      #expect(stage.call("login", LoginStage.credentials) == "")
      #expect(other.ask(LoginStage.line("login", LoginStage.credentials)).isEmpty)
      #expect(stage.client.ask(Self.takeBack).count == 1)
      #expect(stage.harness.provider.waitingCalls == 1)
      #expect(other.ask(Self.takeBack).count == 1)
      #expect(other.ask(LoginStage.line("login", LoginStage.credentials)).isEmpty)
      #expect(stage.harness.provider.waitingCalls == 2)
      stage.harness.provider.release()
      stage.harness.settle()
      #expect(other.lines().first?.contains("authenticated") == true)
      #expect(stage.client.lines().isEmpty && stage.events == ["login"])
      #expect(stage.harness.provider.revocations == 1)
    }
  }

  @Test func `a code or an action that comes of it waits for nobody`() async throws {
    try await OwnThread.run {
      for prepare: (ScriptedProvider) -> Void in [{ $0.setWantsCode(true) }, { $0.setLoginMethods([.deviceCode]) }] {
        let stage = try LoginStage(prepare: prepare)
        stage.harness.provider.hold()
        let isDevice = stage.harness.provider.loginMethods == [.deviceCode]
        #expect(stage.call("login", isDevice ? "{}" : LoginStage.credentials) == "")
        #expect(stage.client.ask(Self.takeBack).count == 1)
        stage.harness.provider.release()
        stage.harness.settle()
        #expect(stage.call("listPendingLogins").contains(#""logins":[]"#))
        #expect(stage.events.isEmpty)
      }
    }
  }

  @Test func `a login whose session is being saved is answered with it`() async throws {
    try await OwnThread.run {
      let stage = try LoginStage { _ in }
      stage.harness.store.hold()
      #expect(stage.call("login", LoginStage.credentials) == "")
      #expect(stage.client.ask(Self.takeBack).isEmpty)
      stage.harness.store.release()
      stage.harness.settle()
      #expect(stage.client.lines().first?.contains("authenticated") == true)
      #expect(stage.harness.provider.revocations == 0 && stage.events == ["login"])
    }
  }
}
