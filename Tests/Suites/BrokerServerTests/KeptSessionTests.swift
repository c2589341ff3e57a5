import BrokerCore
import BrokerProtocol
import TestSupport
import Testing

/// What a connection that has only the socket may not do to the session of the user who is logged in.
@Suite(.standardTimeLimit) struct KeptSessionTests {
  /// A stage whose client, not proven, has logged user-1 in; and another connection that has only the socket.
  private static func stage(
    _ methods: [LoginMethod] = [.password, .deviceCode, .browser, .refreshToken],
    store: InMemoryStore = InMemoryStore(), clock: ManualClock = ManualClock()
  ) throws -> (stage: LoginStage, bare: TestClient) {
    let stage = try LoginStage(store: store, clock: clock) { $0.setLoginMethods(methods) }
    #expect(stage.client.askBare(LoginStage.line("login", LoginStage.credentials)).first?.contains("user-1") == true)
    _ = stage.events
    return (stage, try stage.harness.connect())
  }

  private static func ask(_ client: TestClient, _ method: String, _ params: String = "{}") -> String {
    client.askBare(LoginStage.line(method, params)).first ?? ""
  }

  private static let changes = [
    #"{"changes":{"email":"mallory@example.test"}}"#, #"{"changes":{"phoneNumber":"+15550100099"}}"#,
    #"{"changes":{"name":"B","twoFactor":"totp"}}"#,
  ]

  @Test(arguments: changes)
  func `a recent login of another connection lets no account be taken over`(_ params: String) async throws {
    try await OwnThread.run {
      let (stage, bare) = try Self.stage()
      let answer = Self.ask(bare, "updateProfile", params)
      #expect(answer.contains(#""kind":"reauthRequired","nextAction":"reauthenticate""#), "\(answer)")
      #expect(ProofGiving.wanted(by: answer) != nil && stage.harness.provider.accountCalls.isEmpty)
      #expect(Self.ask(bare, "updateProfile", #"{"changes":{"name":"B"}}"#).contains("result"))
      // The connection that has logged in, one whose own user has authenticated, and one with the state directory may.
      #expect(Self.ask(stage.client, "updateProfile", params).contains("result"))
      bare.prove()
      #expect(Self.ask(bare, "updateProfile", params).contains("result"))
      let third = try stage.harness.connect()
      #expect(Self.ask(third, "reauthenticate", #"{"password":"right"}"#).contains("authenticated"))
      #expect(Self.ask(third, "updateProfile", params).contains("result"))
      #expect(Self.ask(stage.client, "updateProfile", params).contains("reauthRequired"))
    }
  }

  @Test func `an old login is no recent one, whatever is proven`() async throws {
    try await OwnThread.run {
      let (stage, bare) = try Self.stage()
      stage.wait(301)
      bare.prove()
      for client in [stage.client, bare] {
        let answer = Self.ask(client, "updateProfile", Self.changes[0])
        #expect(answer.contains("reauthRequired") && ProofGiving.wanted(by: answer) == nil)
      }
    }
  }

  @Test func `a session that has taken the place of a connection's own is none of its own`() async throws {
    try await OwnThread.run {
      let (stage, bare) = try Self.stage()
      #expect(Self.ask(bare, "logout").contains("serverRevoked"))
      #expect(Self.ask(bare, "login", LoginStage.credentials).contains("authenticated"))
      #expect(Self.ask(stage.client, "updateProfile", Self.changes[0]).contains("reauthRequired"))
      #expect(Self.ask(bare, "updateProfile", Self.changes[0]).contains("result"))
    }
  }

  @Test func `the connection that a code came by is not the one that the password came by`() async throws {
    try await OwnThread.run {
      let (stage, bare) = try Self.stage()
      stage.harness.provider.setWantsCode(true)
      let answer = Self.ask(stage.client, "login", LoginStage.credentials)
      let id = try #require(answer.split(separator: #""otpFlowId":""#).last?.split(separator: "\"").first)
      #expect(Self.ask(bare, "verifyOtp", #"{"otpFlowId":"\#(id)","code":"123456"}"#).contains("authenticated"))
      #expect(Self.ask(bare, "updateProfile", Self.changes[0]).contains("reauthRequired"))
      #expect(Self.ask(stage.client, "updateProfile", Self.changes[0]).contains("result"))
    }
  }

  @Test(arguments: [
    ("login", #"{"refreshToken":"taken"}"#), ("login", #"{"email":"mallory@example.test","password":"right"}"#),
    ("register", #"{"email":"mallory@example.test","password":"right"}"#),
  ])
  func `what would replace a living session is refused before the provider is asked`(
    _ method: String, _ params: String
  ) async throws {
    try await OwnThread.run {
      let (stage, bare) = try Self.stage()
      let logins = stage.harness.provider.logins
      let answer = Self.ask(bare, method, params)
      #expect(answer.contains(#""kind":"reauthRequired","nextAction":"none""#), "\(answer)")
      #expect(ProofGiving.wanted(by: answer) != nil && answer.contains("log out first"))
      #expect(stage.harness.provider.logins == logins && stage.events.isEmpty)
      #expect(Self.ask(bare, "getAccessToken").contains("access-1"))
      bare.prove()
      #expect(Self.ask(bare, method, params).contains("authenticated"))
      #expect(Self.ask(bare, "getAccessToken").contains("access-2"))
    }
  }

  @Test func `a login is free where nobody is logged in, and after a logout or an end`() async throws {
    try await OwnThread.run {
      let (stage, bare) = try Self.stage()
      stage.harness.provider.setUser("user-2")
      _ = Self.ask(bare, "logout")
      #expect(Self.ask(bare, "login", #"{"refreshToken":"taken"}"#).contains("user-2"))
      stage.harness.provider.setRefresh(.fails(.sessionEnded(.refreshRejected)))
      _ = Self.ask(bare, "getAccessToken", #"{"forceRefresh":true}"#)
      #expect(Self.ask(bare, "getSession").contains(#""state":"expired""#))
      #expect(Self.ask(bare, "login", LoginStage.credentials).contains("authenticated"))
    }
  }

  @Test func `the same user may log in again by any connection`() async throws {
    try await OwnThread.run {
      let (stage, bare) = try Self.stage()
      #expect(Self.ask(bare, "login", LoginStage.credentials).contains("authenticated"))
      stage.harness.provider.setUser("user-1", isNamed: false)
      #expect(Self.ask(bare, "login", #"{"method":"deviceCode"}"#).contains("userActionRequired"))
      stage.harness.provider.setPolls([.done])
      stage.wait(5)
      #expect(Self.ask(bare, "getAccessToken").contains("access-3"))
    }
  }

  /// Ends a login that was begun by a method, and gives what its caller is told.
  private static func end(_ stage: LoginStage, _ client: TestClient, _ method: String) throws -> String {
    switch method {
    case "password": return ask(client, "login", LoginStage.credentials)
    case "code":
      stage.harness.provider.setWantsCode(true)
      let answer = ask(client, "login", LoginStage.credentials)
      let id = try #require(answer.split(separator: #""otpFlowId":""#).last?.split(separator: "\"").first)
      return ask(client, "verifyOtp", #"{"otpFlowId":"\#(id)","code":"123456"}"#)
    default:
      let flow = try LoginStage.loginFlow(ask(client, "login", #"{"method":"\#(method)"}"#))
      client.send(LoginStage.line("awaitLogin", #"{"loginFlowId":"\#(flow)"}"#, 7) + "\n")
      stage.harness.provider.setPolls([.done])
      if method == "browser" { stage.harness.provider.redirect() }
      stage.wait(5)
      return client.lines().first ?? ""
    }
  }

  @Test(arguments: ["password", "code", "deviceCode", "browser"])
  func `another user, who is known only at the end, gets no session in its place`(_ method: String) async throws {
    try await OwnThread.run {
      for isNamed in [true, false] {
        let (stage, bare) = try Self.stage()
        stage.harness.provider.setUser("user-2", isNamed: isNamed)
        let answer = try Self.end(stage, bare, method)
        #expect(answer.contains(#""kind":"reauthRequired","nextAction":"none""#), "\(answer)")
        #expect(ProofGiving.wanted(by: answer) == nil)
        #expect(stage.harness.provider.revocationLedger.map(\.token) == ["refresh-2"])
        #expect(stage.watcher.lines().last?.contains(#""kind":"reauthRequired""#) == true)
        #expect(Self.ask(bare, "getAccessToken").contains("access-1"))
        #expect(Self.ask(bare, "listPendingLogins").contains("[]"))
        #expect(Self.ask(bare, "getSession").contains(#""userId":"user-1""#))
      }
    }
  }

  @Test(arguments: ["password", "code", "deviceCode", "browser"])
  func `with the state directory another user takes its place`(_ method: String) async throws {
    try await OwnThread.run {
      let (stage, bare) = try Self.stage()
      bare.prove()
      stage.harness.provider.setUser("user-2")
      #expect(try Self.end(stage, bare, method).contains(#""userId":"user-2""#))
    }
  }

  @Test func `a login begun before there was a session replaces none that has come since`() async throws {
    try await OwnThread.run {
      let stage = try LoginStage { $0.setLoginMethods([.password, .refreshToken]) }
      let bare = try stage.harness.connect()
      stage.harness.provider.hold()
      stage.client.send(LoginStage.line("login", LoginStage.credentials) + "\n")
      bare.send(LoginStage.line("login", #"{"refreshToken":"taken"}"#) + "\n")
      #expect(stage.harness.provider.waitingCalls > 0)
      stage.harness.provider.release()
      stage.harness.settle()
      #expect(stage.client.lines().first?.contains("authenticated") == true)
      #expect(bare.lines().first?.contains("reauthRequired") == true)
      #expect(Self.ask(bare, "getAccessToken").contains("access-1"))
    }
  }

  @Test func `what a pending login may replace outlives the broker`() async throws {
    try await OwnThread.run {
      for isProven in [false, true] {
        let (store, clock) = (InMemoryStore(), ManualClock())
        let (first, bare) = try Self.stage(store: store, clock: clock)
        if isProven { bare.prove() }
        first.harness.provider.setWantsCode(true)
        let answer = Self.ask(bare, "login", LoginStage.credentials)
        let id = try #require(answer.split(separator: #""otpFlowId":""#).last?.split(separator: "\"").first)
        let second = try LoginStage(store: store, clock: clock) { $0.setUser("user-2") }
        let end = Self.ask(second.client, "verifyOtp", #"{"otpFlowId":"\#(id)","code":"123456"}"#)
        #expect(end.contains(isProven ? #""userId":"user-2""# : "reauthRequired"), "\(end)")
      }
    }
  }
}
