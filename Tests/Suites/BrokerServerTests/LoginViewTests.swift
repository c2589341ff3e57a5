import BrokerProtocol
import TestSupport
import Testing

/// What a connection is shown of a login that another one has begun.
@Suite(.standardTimeLimit) struct LoginViewTests {
  /// A stage on which a client has begun a login that waits for its user, and the answer.
  private static func stage(
    _ method: String, store: InMemoryStore = InMemoryStore(), clock: ManualClock = ManualClock(), isProven: Bool = false
  ) throws -> (stage: LoginStage, answer: String) {
    let base = try LoginStage(store: store, clock: clock) { provider in
      provider.setLoginMethods([.deviceCode, .browser])
      provider.setPolls([.pending(), .pending(), .done])
    }
    if isProven { base.client.prove() }
    let stage = LoginStage(base.harness, base.client, watcher: try base.harness.connect())
    let answer = ask(stage.client, "login", #"{"method":"\#(method)","clientContext":"mine"}"#)
    return (stage, answer)
  }

  private static func ask(_ client: TestClient, _ method: String, _ params: String = "{}") -> String {
    client.askBare(LoginStage.line(method, params)).first ?? ""
  }

  /// What lets another end the login, or is the client's own.
  private static let own = ["https://id.example", "AB-CD", "verificationUri", "userCode", "clientContext"]

  private static func isAll(_ text: String, _ method: String) -> Bool {
    text.contains(#""verificationUri":"https://id.example/"#) && text.contains("AB-CD") == (method == "deviceCode")
      && text.contains("mine")
  }

  private static func isVeiled(_ text: String, _ method: String) -> Bool {
    text.contains(#""kind":"\#(method)""#) && text.contains("loginFlowId") && text.contains("expiresAt")
      && own.allSatisfy { !text.contains($0) }
  }

  @Test(arguments: ["deviceCode", "browser"], [false, true])
  func `address and code are for the connection that began the login and administrative ones`(
    _ method: String, _ isProven: Bool
  ) async throws {
    try await OwnThread.run {
      let (stage, answer) = try Self.stage(method, isProven: isProven)
      #expect(Self.isAll(answer, method), "\(answer)")
      let event = stage.watcher.lines().last ?? ""
      #expect(event.contains("loginPending") && Self.isVeiled(event, method), "\(event)")
      let (bare, owner) = (try stage.harness.connect(), try stage.harness.connect())
      owner.prove()
      for (name, params) in [("listPendingLogins", "{}"), ("getAccessToken", "{}"), ("getCurrentUser", "{}")] {
        let seen = Self.ask(bare, name, params)
        #expect(Self.isVeiled(seen, method), "\(name): \(seen)")
        for client in [stage.client, owner] {
          let seen = Self.ask(client, name, params)
          #expect(Self.isAll(seen, method), "\(name): \(seen)")
        }
      }
    }
  }

  @Test func `a reminder is shown as the first event was`() async throws {
    try await OwnThread.run {
      let (stage, _) = try Self.stage("browser")
      _ = stage.client.ask(LoginStage.line("subscribe"))
      let first = stage.watcher.lines().last ?? ""
      #expect(first.contains("loginPending") && !first.contains("reminder"), "\(first)")
      for _ in 0..<60 { stage.wait(5) }
      let (veiled, own) = (stage.watcher.lines(), stage.client.lines())
      #expect(veiled.count == 1 && own.count == 1, "\(veiled) \(own)")
      for line in veiled + own {
        #expect(line.contains(#""event":"loginPending""#) && line.contains(#""reminder":true"#), "\(line)")
      }
      #expect(Self.isVeiled(veiled.first ?? "", "browser") && Self.isAll(own.first ?? "", "browser"))
      #expect(!Self.ask(stage.client, "listPendingLogins").contains("reminder"))
    }
  }

  @Test(arguments: ["deviceCode", "browser"])
  func `old events are shown as new ones are, from memory and from the store`(_ method: String) async throws {
    try await OwnThread.run {
      let (store, clock) = (InMemoryStore(), ManualClock())
      let (first, _) = try Self.stage(method, store: store, clock: clock)
      let replay = LoginStage.line("subscribe", #"{"since":0}"#)
      func pending(_ client: TestClient) -> String {
        client.askBare(replay).last { $0.contains("loginPending") } ?? ""
      }
      #expect(Self.isAll(pending(first.client), method))
      #expect(Self.isVeiled(pending(try first.harness.connect()), method))
      let second = try LoginStage(store: store, clock: clock) { $0.setLoginMethods([.deviceCode, .browser]) }
      let (bare, owner) = (try second.harness.connect(), try second.harness.connect())
      owner.prove()
      #expect(Self.isVeiled(pending(bare), method) && Self.isAll(pending(owner), method))
      // No connection of this broker has begun the login.
      #expect(Self.isVeiled(Self.ask(bare, "listPendingLogins"), method))
      #expect(Self.isAll(Self.ask(owner, "listPendingLogins"), method))
    }
  }

  @Test func `a subscriber sees the address from when it has proven access`() async throws {
    try await OwnThread.run {
      let (stage, _) = try Self.stage("deviceCode")
      #expect(Self.isVeiled(stage.watcher.lines().last ?? "", "deviceCode"))
      stage.watcher.prove()
      _ = Self.ask(stage.client, "login", #"{"method":"deviceCode","clientContext":"mine"}"#)
      #expect(Self.isAll(stage.watcher.lines().last ?? "", "deviceCode"))
    }
  }

  @Test func `who may not know the address may wait for the login and cancel it`() async throws {
    try await OwnThread.run {
      let (stage, answer) = try Self.stage("deviceCode")
      let flow = #"{"loginFlowId":"\#(try LoginStage.loginFlow(answer))"}"#
      let bare = try stage.harness.connect()
      #expect(bare.askBare(LoginStage.line("awaitLogin", flow)).isEmpty)
      for _ in 0..<3 { stage.wait(5) }
      let end = bare.lines().first ?? ""
      #expect(end.contains("authenticated") && !end.contains("mine"), "\(end)")
      let late = Self.ask(bare, "awaitLogin", flow)
      #expect(late.contains("authenticated") && !late.contains("mine"), "\(late)")
      #expect(Self.ask(stage.client, "awaitLogin", flow).contains("mine"))
      #expect(stage.watcher.lines().allSatisfy { !$0.contains("mine") })
      let next = try LoginStage.loginFlow(Self.ask(stage.client, "login", #"{"method":"browser"}"#))
      #expect(Self.ask(bare, "cancelLogin", #"{"loginFlowId":"\#(next)"}"#).contains(#""result":{}"#))
    }
  }

  @Test func `what a client wants to have back is for its own program and administrative connections`() async throws {
    try await OwnThread.run {
      let stage = try LoginStage { $0.setWantsCode(true) }
      let (sibling, owner) = (try stage.harness.connect(process: stage.client.process), try stage.harness.connect())
      owner.prove()
      let bare = try stage.harness.connect()
      for client in [sibling, owner, bare] { _ = client.askBare(LoginStage.line("subscribe")) }
      let context = #","clientContext":"mine""#
      _ = Self.ask(stage.client, "login", #"{"email":"a@example.test","password":"right"\#(context)}"#)
      let flow = #""otpFlowId":"handle-1""#
      for (client, isTold) in [(sibling, true), (owner, true), (bare, false)] {
        for name in ["listPendingLogins", "getAccessToken"] {
          let lines = client.askBare(LoginStage.line(name))
          #expect(lines.count == (name == "listPendingLogins" ? 2 : 1))
          #expect(lines.allSatisfy { $0.contains(flow) && $0.contains("s•••@") == lines[0].contains("s•••@") })
          #expect(lines.allSatisfy { $0.contains("mine") == isTold }, "\(lines)")
        }
      }
      stage.wait(30)
      #expect(!Self.ask(bare, "resendOtp", "{\(flow)}").contains("mine"))
      _ = Self.ask(stage.client, "verifyOtp", #"{\#(flow),"code":"000000"}"#)
      // Who has the code is the login's user.
      let lines = bare.askBare(LoginStage.line("verifyOtp", #"{\#(flow),"code":"123456"}"#))
      #expect(lines.contains { $0.contains("authenticated") })
      for (client, isTold) in [(sibling, true), (owner, true), (bare, false)] {
        let events = (client === bare ? lines : client.lines()).filter { $0.contains(#""event":""#) }
        #expect(events.count > 1 && events.allSatisfy { $0.contains("mine") == isTold }, "\(events)")
      }
    }
  }
}
