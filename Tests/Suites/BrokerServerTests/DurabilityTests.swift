import BrokerCore
import BrokerProtocol
import BrokerServer
import SecretMemory
import TestSupport
import Testing

/// What is told, and what rests, when the disk says no or two things happen at once.
@Suite(.standardTimeLimit) struct DurabilityTests {
  private static func login(_ id: Int, _ password: String = "right") -> String {
    #"{"jsonrpc":"2.0","id":\#(id),"method":"login","params":{"email":"a@example.test","password":"\#(password)"}}"#
  }

  private static func call(_ method: String, _ params: String = "{}") -> String {
    #"{"jsonrpc":"2.0","id":9,"method":"\#(method)","params":\#(params)}"#
  }

  @Test func `a login that cannot be saved is refused, and does not come back by itself`() async throws {
    try await OwnThread.run {
      let harness = try ServerHarness()
      let client = try harness.connect()
      harness.store.failure = .failed(context: "a full disk")
      #expect(client.ask(Self.login(1)).first?.contains(#""kind":"storeFailed""#) == true)
      harness.store.failure = nil
      harness.clock.advance(by: .seconds(10))
      #expect(client.ask(Self.call("getSession")).first?.contains(#""state":"signedOut""#) == true)
      // What was refused may rest there all the same, so it is overwritten.
      guard case .signedOut? = harness.store.records.first?.contents else {
        Issue.record("the refused login may come back")
        return
      }
    }
  }

  /// Logs in, and refreshes while the disk is full; the client is administrative.
  private static func refreshUnsaved(_ client: TestClient, _ harness: ServerHarness) {
    client.prove()
    _ = client.ask(login(1))
    harness.provider.hold()
    client.send(call("getAccessToken", #"{"forceRefresh":true}"#) + "\n")
    harness.store.failure = .failed(context: "a full disk")
    harness.provider.release()
    #expect(client.lines().first?.contains("access-2") == true)
  }

  @Test func `a broker does not stop by request while something would be lost`() async throws {
    try await OwnThread.run {
      let harness = try ServerHarness()
      let client = try harness.connect()
      Self.refreshUnsaved(client, harness)
      #expect(harness.reports.all == [.notSaved(.default)])
      let refusal = client.ask(Self.call("stopBroker")).first
      #expect(refusal?.contains(#""kind":"storeFailed""#) == true && refusal?.contains("default") == true)
      #expect(client.ask(Self.call("ping")) == [#"{"jsonrpc":"2.0","id":9,"result":{}}"#])
      harness.store.failure = nil
      harness.clock.advance(by: .seconds(30))
      harness.settle()
      #expect(harness.reports.all == [.notSaved(.default), .saved(.default)])
      #expect(client.ask(Self.call("stopBroker")) == [#"{"jsonrpc":"2.0","id":9,"result":{}}"#])
      #expect(client.hasEnded && harness.stopFlag.isRaised)
    }
  }

  @Test func `a broker that is asked to stop tries first to save what could not be saved`() async throws {
    try await OwnThread.run {
      let harness = try ServerHarness()
      let client = try harness.connect()
      Self.refreshUnsaved(client, harness)
      #expect(client.ask(Self.call("stopBroker")).first?.contains(#""kind":"storeFailed""#) == true)
      harness.store.failure = nil
      #expect(client.ask(Self.call("stopBroker")) == [#"{"jsonrpc":"2.0","id":9,"result":{}}"#])
      guard case .living(let session)? = harness.store.records.first?.contents else {
        Issue.record("the session is gone")
        return
      }
      #expect(session.tokens.refreshToken?.value.revealedString() == "refresh-2")
    }
  }

  @Test func `a broker that is told to end tries at once to save what could not be saved`() async throws {
    try await OwnThread.run {
      let harness = try ServerHarness()
      let client = try harness.connect()
      Self.refreshUnsaved(client, harness)
      harness.store.failure = nil
      harness.server.assumeIsolated { $0.drain() }
      harness.settle()
      #expect(harness.reports.all == [.notSaved(.default), .saved(.default)] && harness.stopFlag.isRaised)
    }
  }

  @Test func `a broker stops when it is told to lose what is not saved`() async throws {
    try await OwnThread.run {
      let harness = try ServerHarness()
      let client = try harness.connect()
      Self.refreshUnsaved(client, harness)
      let answer = client.ask(Self.call("stopBroker", #"{"discardUnsaved":true}"#))
      #expect(answer.first == #"{"jsonrpc":"2.0","id":9,"result":{}}"#)
    }
  }

  @Test func `a login that cannot be saved leaves the session and its user as they were`() async throws {
    try await OwnThread.run {
      let harness = try ServerHarness()
      let client = try harness.connect()
      _ = client.ask(Self.login(1))
      let before = client.ask(Self.call("getCurrentUser")).first
      harness.store.failure = .failed(context: "a full disk")
      #expect(client.ask(Self.login(2)).first?.contains("storeFailed") == true)
      #expect(client.ask(Self.call("getCurrentUser")).first == before)
      #expect(client.ask(Self.call("getAccessToken")).first?.contains("access-1") == true)
    }
  }

  @Test func `no logout is called done before it is durable`() async throws {
    try await OwnThread.run {
      let harness = try ServerHarness()
      let client = try harness.connect()
      _ = client.ask(Self.login(1))
      harness.store.failure = .failed(context: "a full disk")
      #expect(client.ask(Self.call("logout")).first?.contains("storeFailed") == true)
      #expect(client.ask(Self.call("getAccessToken")).first?.contains("loginRequired") == true)
      #expect(client.ask(Self.call("logout")).isEmpty)
      harness.store.failure = nil
      harness.clock.advance(by: .seconds(2))
      #expect(client.lines().first?.contains("serverRevoked") == true)
      #expect(harness.store.saveCount == 2)
    }
  }

  @Test func `a login wins over a refresh that was under way`() async throws {
    try await OwnThread.run {
      let harness = try ServerHarness()
      let client = try harness.connect()
      _ = client.ask(Self.login(1))
      harness.provider.hold()
      client.send(Self.call("getAccessToken", #"{"forceRefresh":true}"#) + "\n" + Self.login(2) + "\n")
      harness.provider.release()
      let answers = client.lines()
      #expect(answers.count == 2)
      #expect(answers.contains { $0.contains(#""status":"authenticated""#) })
      let records = harness.store.records
      guard case .living(let session)? = records.first?.contents else {
        Issue.record("no living session rests in the store")
        return
      }
      let token = client.ask(Self.call("getAccessToken")).first ?? ""
      #expect(token.contains(session.tokens.accessToken.value.revealedString() ?? "?"))
    }
  }

  @Test func `equal logins at once are one login at the provider`() async throws {
    try await OwnThread.run {
      let harness = try ServerHarness()
      harness.provider.setWantsCode(true)
      let clients = try (0..<10).map { _ in try harness.connect() }
      harness.provider.hold()
      for client in clients { client.send(Self.login(1) + "\n") }
      harness.provider.release()
      let answers = Set(clients.flatMap { $0.lines() })
      #expect(answers.count == 1)
      #expect(answers.first?.contains("otpRequired") == true)
    }
  }

  @Test func `a logout voids a login that was begun before it`() async throws {
    try await OwnThread.run {
      let harness = try ServerHarness()
      let client = try harness.connect()
      harness.provider.hold()
      client.send(Self.login(1) + "\n" + Self.call("logout") + "\n")
      harness.provider.release()
      let answers = client.lines()
      #expect(answers.contains { $0.contains(#""id":1"#) && $0.contains("cancelled") })
      #expect(client.ask(Self.call("getSession")).first?.contains("signedOut") == true)
      #expect(harness.provider.revocations == 1)
    }
  }

  @Test func `an ended session has no current user`() async throws {
    try await OwnThread.run {
      let harness = try ServerHarness()
      let client = try harness.connect()
      _ = client.ask(Self.login(1))
      _ = client.ask(Self.call("getCurrentUser"))
      harness.provider.setRefresh(.fails(.sessionEnded(.refreshRejected)))
      _ = client.ask(Self.call("getAccessToken", #"{"forceRefresh":true}"#))
      #expect(client.ask(Self.call("getCurrentUser")).first?.contains("sessionExpired") == true)
    }
  }

  @Test func `the server ends only after a refresh that is under way is saved`() async throws {
    try await OwnThread.run {
      let harness = try ServerHarness()
      let client = try harness.connect()
      _ = client.ask(Self.login(1))
      harness.provider.hold()
      client.send(Self.call("getAccessToken", #"{"forceRefresh":true}"#) + "\n")
      client.close()
      harness.server.assumeIsolated { $0.drain() }
      #expect(!harness.stopFlag.isRaised)
      harness.provider.release()
      harness.settle()
      #expect(harness.stopFlag.isRaised)
      #expect(harness.store.saveCount == 2)
    }
  }

  @Test func `a second logout that waits for the disk is answered by the login that comes first`() async throws {
    try await OwnThread.run {
      let harness = try ServerHarness()
      let (client, second) = (try harness.connect(), try harness.connect())
      _ = client.ask(Self.login(1))
      harness.store.failure = .failed(context: "a full disk")
      #expect(client.ask(Self.call("logout")).first?.contains("storeFailed") == true)
      #expect(second.ask(Self.call("logout")).isEmpty)
      harness.store.failure = nil
      #expect(client.ask(Self.login(2)).first?.contains("authenticated") == true)
      #expect(second.lines().first?.contains(#""serverRevoked""#) == true)
    }
  }

  @Test func `a challenge that a logout has ended is gone from the store once the disk has room`() async throws {
    try await OwnThread.run {
      let harness = try ServerHarness()
      let client = try harness.connect()
      _ = client.ask(Self.login(1))
      harness.provider.setWantsCode(true)
      _ = client.ask(Self.login(2))
      #expect(harness.store.pendingLogins.count == 1)
      harness.store.failure = .failed(context: "a full disk")
      _ = client.ask(Self.call("logout"))
      harness.store.failure = nil
      harness.clock.advance(by: .seconds(30))
      harness.settle()
      #expect(harness.store.pendingLogins.isEmpty)
    }
  }

  @Test func `what was to end everywhere does not end a session that is just being saved`() async throws {
    try await OwnThread.run {
      let harness = try ServerHarness()
      let client = try harness.connect()
      _ = client.ask(Self.login(1))
      harness.provider.setRevocationFailure(.transient(.networkUnavailable))
      _ = client.ask(Self.call("logout", #"{"everywhere":true}"#))
      harness.store.hold()
      #expect(client.ask(Self.login(1)).isEmpty)
      harness.provider.setRevocationFailure(nil)
      harness.clock.advance(by: .seconds(300))
      harness.settle()
      #expect(harness.provider.revocationLedger.last == .init(token: "refresh-1", everywhere: false))
      harness.store.release()
      #expect(client.lines().first?.contains("authenticated") == true)
    }
  }

  @Test func `a login that a logout overtakes while it is being saved is none, and its tokens are given back`()
    async throws
  {
    try await OwnThread.run {
      let harness = try ServerHarness()
      let (first, second) = (try harness.connect(), try harness.connect())
      harness.store.hold()
      #expect(first.ask(Self.login(1)).isEmpty)
      #expect(second.ask(Self.call("logout")).isEmpty)
      harness.store.release()
      harness.settle()
      #expect(first.lines().first?.contains(#""kind":"cancelled""#) == true)
      #expect(second.lines().first?.contains("result") == true)
      #expect(harness.provider.revocationLedger.map(\.token) == ["refresh-1"])
    }
  }
}
