import BrokerCore
import BrokerProtocol
import TestSupport
import Testing

/// What a connection that has only the socket may not do once it has signed the user out who was logged in.
@Suite(.standardTimeLimit) struct KeptPlaceTests {
  private static let methods: [LoginMethod] = [.password, .deviceCode, .browser, .refreshToken]

  /// A stage whose client, not proven, has logged user-1 in; and another connection that has only the socket.
  private static func stage(
    store: InMemoryStore = InMemoryStore(), clock: ManualClock = ManualClock()
  ) throws -> (stage: LoginStage, bare: TestClient) {
    let stage = try LoginStage(store: store, clock: clock) { $0.setLoginMethods(methods) }
    #expect(ask(stage.client, "login", LoginStage.credentials).contains("user-1"))
    return (stage, try stage.harness.connect())
  }

  private static func ask(_ client: TestClient, _ method: String, _ params: String = "{}") -> String {
    client.askBare(LoginStage.line(method, params)).first ?? ""
  }

  private static let others = [
    ("login", #"{"refreshToken":"taken"}"#), ("login", #"{"email":"mallory@example.test","password":"right"}"#),
    ("register", #"{"email":"mallory@example.test","password":"right"}"#),
  ]

  @Test(arguments: others)
  func `after its logout another user is refused before the provider is asked, also after a restart`(
    _ method: String, _ params: String
  ) async throws {
    try await OwnThread.run {
      let (store, clock) = (InMemoryStore(), ManualClock())
      let (first, bare) = try Self.stage(store: store, clock: clock)
      // A second logout forgets nothing.
      for _ in 0..<2 { #expect(Self.ask(bare, "logout").contains("serverRevoked")) }
      let logins = first.harness.provider.logins
      #expect(Self.ask(bare, method, params).contains(#""kind":"reauthRequired","nextAction":"none""#))
      #expect(first.harness.provider.logins == logins)
      let second = try LoginStage(store: store, clock: clock) { $0.setLoginMethods(Self.methods) }
      let answer = Self.ask(second.client, method, params)
      #expect(answer.contains("reauthRequired") && ProofGiving.wanted(by: answer) != nil, "\(answer)")
      second.client.prove()
      #expect(Self.ask(second.client, method, params).contains("authenticated"))
    }
  }

  @Test(arguments: ["deviceCode", "browser"])
  func `another user, who is known only at the end, gets no session`(_ method: String) async throws {
    try await OwnThread.run {
      let (stage, bare) = try Self.stage()
      _ = Self.ask(bare, "logout")
      stage.harness.provider.setUser("user-2")
      let flow = try LoginStage.loginFlow(Self.ask(bare, "login", #"{"method":"\#(method)"}"#))
      bare.send(LoginStage.line("awaitLogin", #"{"loginFlowId":"\#(flow)"}"#) + "\n")
      stage.harness.provider.setPolls([.done])
      if method == "browser" { stage.harness.provider.redirect() }
      stage.wait(5)
      #expect(bare.lines().first?.contains("reauthRequired") == true)
      #expect(Self.ask(bare, "getSession").contains(#""state":"signedOut""#))
      #expect(stage.harness.provider.revocationLedger.last?.token == "refresh-2")
    }
  }

  @Test func `the same user logs in again by any connection, and is kept again`() async throws {
    try await OwnThread.run {
      let (stage, bare) = try Self.stage()
      _ = Self.ask(bare, "logout")
      #expect(Self.ask(bare, "login", LoginStage.credentials).contains("authenticated"))
      // By now it is this connection's own session.
      _ = Self.ask(bare, "logout")
      stage.harness.provider.setUser("user-2")
      #expect(Self.ask(bare, "login", Self.others[1].1).contains("user-2"))
      _ = Self.ask(stage.client, "logout")
      #expect(Self.ask(stage.client, "login", LoginStage.credentials).contains("reauthRequired"))
    }
  }

  @Test func `the connection that had logged the user in may log another one in, whoever has logged out`() async throws
  {
    try await OwnThread.run {
      for logsOutItself in [true, false] {
        let (stage, bare) = try Self.stage()
        _ = Self.ask(logsOutItself ? stage.client : bare, "logout")
        stage.harness.provider.setUser("user-2")
        #expect(Self.ask(stage.client, "login", Self.others[1].1).contains("user-2"))
      }
    }
  }

  @Test func `a logout with access to the state directory forgets the user, durably`() async throws {
    try await OwnThread.run {
      for isFirst in [true, false] {
        let (store, clock) = (InMemoryStore(), ManualClock())
        let (first, bare) = try Self.stage(store: store, clock: clock)
        if !isFirst { _ = Self.ask(bare, "logout") }
        bare.prove()
        _ = first.events
        #expect(Self.ask(bare, "logout").contains("serverRevoked"))
        #expect(first.events == (isFirst ? ["logout"] : []))
        let second = try LoginStage(store: store, clock: clock) { provider in
          provider.setLoginMethods(Self.methods)
          provider.setUser("user-2")
        }
        #expect(Self.ask(second.client, "login", Self.others[1].1).contains("user-2"))
      }
    }
  }

  @Test func `a profile that never had a session, and one whose user is unknown, keep no place`() async throws {
    try await OwnThread.run {
      let stage = try LoginStage { $0.setLoginMethods(Self.methods) }
      #expect(Self.ask(stage.client, "logout").contains("serverRevoked"))
      stage.harness.provider.setUser("user-1", isNamed: false)
      #expect(Self.ask(stage.client, "login", LoginStage.credentials).contains("authenticated"))
      let bare = try stage.harness.connect()
      _ = Self.ask(bare, "logout")
      #expect(Self.ask(bare, "login", Self.others[1].1).contains("authenticated"))
    }
  }
}
