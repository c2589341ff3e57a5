import BrokerCore
import BrokerProtocol
import BrokerServer
import SecretMemory
import TestSupport
import Testing

/// What a locked broker gives out: nothing.
@Suite(.standardTimeLimit) struct LockTests {
  private static func login(_ id: Int = 1) -> String {
    call("login", #"{"email":"a@example.test","password":"right"}"#, id)
  }

  private static func call(_ method: String, _ params: String = "{}", _ id: Int = 9) -> String {
    #"{"jsonrpc":"2.0","id":\#(id),"method":"\#(method)","params":\#(params)}"#
  }

  private static let done = #"{"jsonrpc":"2.0","id":9,"result":{}}"#
  private static let force = call("getAccessToken", #"{"forceRefresh":true}"#)

  @Test func `a cached token is gone with the lock, and there again with the unlock`() async throws {
    try await OwnThread.run {
      let harness = try ServerHarness()
      let client = try harness.connect()
      _ = client.ask(Self.login())
      let token = client.ask(Self.call("getAccessToken"))
      #expect(client.ask(Self.call("getAccessToken")) == token)
      #expect(client.ask(Self.call("lock")) == [Self.done])
      #expect(harness.store.isLocked)
      #expect(client.ask(Self.call("getAccessToken")).first?.contains(#""kind":"vaultLocked""#) == true)
      #expect(client.ask(Self.call("lock")) == [Self.done])
      #expect(client.ask(Self.call("unlock")) == [Self.done])
      #expect(client.ask(Self.call("getAccessToken")) == token)
      #expect(client.ask(Self.call("unlock")) == [Self.done])
      #expect(harness.store.tries == 1 && harness.provider.spentTokens.isEmpty)
    }
  }

  @Test(arguments: [
    ("getAccessToken", "{}"), ("reportRejected", #"{"tokenId":"x"}"#), ("getCurrentUser", "{}"), ("logout", "{}"),
    ("login", #"{"email":"a@example.test","password":"right"}"#),
    ("register", #"{"email":"a@example.test","password":"x"}"#), ("resendOtp", #"{"otpFlowId":"x"}"#),
    ("verifyOtp", #"{"otpFlowId":"x","code":"1"}"#), ("checkVault", "{}"), ("rekey", "{}"),
  ])
  func `what needs the vault says that it is locked`(_ method: String, _ params: String) async throws {
    try await OwnThread.run {
      let harness = try ServerHarness()
      let client = try harness.connect()
      _ = client.ask(Self.login())
      _ = client.ask(Self.call("lock"))
      let answer = client.ask(Self.call(method, params)).first
      #expect(answer?.contains(#""code":1060,"#) == true && answer?.contains(#""nextAction":"unlock""#) == true)
      #expect(harness.provider.revocations == 0)
    }
  }

  @Test func `what everybody may know, and no more, is told while it is locked`() async throws {
    try await OwnThread.run {
      let client = try ServerHarness().connect()
      _ = client.ask(Self.login())
      _ = client.ask(Self.call("lock"))
      let session =
        #"{"profile":"default","provider":"scripted","state":"locked","scopes":[],"refreshTokenPresent":false}"#
      let described = session.dropLast() + #","login":[{"method":"password","fields":["email","password"]}]}"#
      #expect(client.ask(Self.call("getSession")) == [#"{"jsonrpc":"2.0","id":9,"result":\#(described)}"#])
      for method in ["listSessions", "initialize", "getStatus", "subscribe"] {
        let answer = client.ask(Self.call(method)).first ?? ""
        #expect(answer.contains("[\(session)]") && !answer.contains("user-1"), "\(method)")
      }
      #expect(client.ask(Self.call("getStatus")).first?.contains(#""vault":{"locked":true,"#) == true)
      for method in ["ping", "rpc.discover", "reloadConfig"] {
        #expect(client.ask(Self.call(method)).first?.contains("result") == true, "\(method)")
      }
      let replay = client.ask(Self.call("subscribe", #"{"since":0}"#))
      #expect(replay.count == 1 && replay.first?.contains(#""resync":true"#) == true)
    }
  }

  @Test func `whoever waits for a token is told at once, and the refresh is finished and saved`() async throws {
    try await OwnThread.run {
      let harness = try ServerHarness()
      let (client, other) = (try harness.connect(), try harness.connect())
      _ = client.ask(Self.login())
      harness.provider.hold()
      #expect(client.ask(Self.force).isEmpty)
      #expect(other.ask(Self.call("lock")).isEmpty)
      #expect(client.lines().first?.contains("vaultLocked") == true)
      #expect(other.ask(Self.call("getSession", "{}", 8)).first?.contains(#""state":"locked""#) == true)
      #expect(!harness.store.isLocked)
      harness.provider.release()
      #expect(other.lines() == [Self.done])
      #expect(harness.store.isLocked && harness.store.saveCount == 2)
      #expect(client.ask(Self.call("unlock")) == [Self.done])
      #expect(client.ask(Self.call("getAccessToken")).first?.contains("access-2") == true)
    }
  }

  @Test(arguments: [false, true])
  func `a token that is not read is dropped, also where the client that locks does not wait`(
    _ cancels: Bool
  ) async throws {
    try await OwnThread.run {
      let harness = try ServerHarness()
      let (reader, other, locker) = (try harness.connect(), try harness.connect(), try harness.connect())
      _ = other.ask(Self.login())
      locker.prove()
      // More tokens than a socket holds.
      let questions = Array(String(repeating: Self.call("getAccessToken") + "\n", count: 4000).utf8)
      var sent = 0
      for _ in 0..<1000 where sent < questions.count {
        sent += reader.push(Array(questions[sent...]))
        harness.settle()
      }
      harness.provider.hold()
      #expect(other.ask(Self.force).isEmpty)
      #expect(locker.ask(Self.call("lock")).isEmpty)
      if cancels {
        #expect(
          locker.ask(#"{"jsonrpc":"2.0","method":"$/cancelRequest","params":{"id":9}}"#).first?.contains("cancelled")
            == true)
      } else {
        locker.close()
      }
      harness.provider.release()
      harness.settle()
      #expect(harness.store.isLocked)
      #expect(reader.hasEnded)
      #expect(reader.lines().count < 4000)
    }
  }

  @Test func `no refresh begins behind the lock`() async throws {
    try await OwnThread.run {
      let harness = try ServerHarness()
      let client = try harness.connect()
      _ = client.ask(Self.login())
      _ = client.ask(Self.call("getAccessToken"))
      _ = client.ask(Self.call("lock"))
      harness.clock.advance(by: .seconds(5000))
      harness.settle()
      #expect(harness.provider.spentTokens.isEmpty)
    }
  }

  @Test func `a login that is under way is not taken in`() async throws {
    try await OwnThread.run {
      let harness = try ServerHarness()
      let (client, other) = (try harness.connect(), try harness.connect())
      harness.provider.hold()
      #expect(client.ask(Self.login()).isEmpty)
      #expect(other.ask(Self.call("lock")).isEmpty)
      harness.provider.release()
      #expect(client.lines().first?.contains("vaultLocked") == true)
      #expect(other.lines() == [Self.done])
      // Nothing is begun behind the lock: the session that nobody wants is ended once the vault is open again.
      #expect(harness.store.saveCount == 0 && harness.provider.revocations == 0)
      #expect(harness.store.revocations.count == 1)
      #expect(client.ask(Self.call("unlock")) == [Self.done])
      #expect(harness.provider.revocations == 1 && harness.store.revocations.isEmpty)
    }
  }

  @Test func `keys stay until the newest tokens are saved, and the answer says so`() async throws {
    try await OwnThread.run {
      let harness = try ServerHarness()
      let client = try harness.connect()
      _ = client.ask(Self.login())
      harness.provider.hold()
      client.send(Self.force + "\n")
      harness.store.failure = .failed(context: "a full disk")
      harness.provider.release()
      #expect(client.lines().first?.contains("access-2") == true)
      let refused = client.ask(Self.call("lock")).first
      #expect(refused?.contains(#""kind":"storeFailed""#) == true && refused?.contains("stay in memory") == true)
      #expect(client.ask(Self.call("getAccessToken")).first?.contains("vaultLocked") == true)
      #expect(client.ask(Self.call("unlock")).first?.contains("storeFailed") == true)
      #expect(!harness.store.isLocked)
      harness.store.failure = nil
      harness.clock.advance(by: .seconds(30))
      harness.settle()
      #expect(harness.store.isLocked)
      #expect(client.ask(Self.call("unlock")) == [Self.done])
      #expect(client.ask(Self.call("getAccessToken")).first?.contains("access-2") == true)
    }
  }

  @Test func `subscribers are told of both`() async throws {
    try await OwnThread.run {
      let harness = try ServerHarness()
      let (watcher, client) = (try harness.connect(), try harness.connect())
      _ = watcher.ask(Self.call("subscribe"))
      _ = client.ask(Self.call("lock"))
      _ = client.ask(Self.call("unlock"))
      let events = watcher.lines()
      #expect(events.count == 2)
      #expect(events.first?.contains(#""event":"vaultLocked""#) == true)
      #expect(events.last?.contains(#""event":"vaultUnlocked""#) == true)
      #expect(harness.store.events.isEmpty)
    }
  }

  @Test func `a broker that starts locked serves, and gives what rests when it is opened`() async throws {
    try await OwnThread.run {
      let (store, clock) = (InMemoryStore(), ManualClock())
      let first = try ServerHarness(store: store, clock: clock)
      let before = try first.connect()
      _ = before.ask(Self.login())
      _ = before.ask(Self.call("lock"))
      let harness = try ServerHarness(store: store, clock: clock)
      let client = try harness.connect()
      #expect(client.ask(Self.call("getSession")).first?.contains(#""state":"locked""#) == true)
      #expect(client.ask(Self.call("subscribe")).first?.contains(#""sequence":0,"#) == true)
      #expect(client.ask(Self.call("lock")) == [Self.done])
      let opened = client.ask(Self.call("unlock"))
      #expect(opened.contains(Self.done) && opened.contains { $0.contains("vaultUnlocked") })
      #expect(client.ask(Self.call("getAccessToken")).first?.contains("access-1") == true)
      let replay = client.ask(Self.call("subscribe", #"{"since":0,"events":["login"]}"#))
      #expect(replay.last?.contains(#""event":"login""#) == true)
    }
  }

  @Test func `a vault that a person has opened is in use`() async throws {
    try await OwnThread.run {
      let store = InMemoryStore()
      store.passphrase = ScriptedProvider.secret("open sesame")
      let harness = try ServerHarness(store: store)
      #expect(harness.broker.assumeIsolated { $0.isBusy })
      _ = try harness.connect().ask(Self.call("lock"))
      #expect(!harness.broker.assumeIsolated { $0.isBusy })
    }
  }

  @Test func `the configuration can be changed while the vault is locked`() async throws {
    try await OwnThread.run {
      let harness = try ServerHarness()
      let client = try harness.connect()
      _ = client.ask(Self.login())
      _ = client.ask(Self.call("lock"))
      let settings = [ProfileSettings(name: .default, provider: harness.provider)]
      harness.broker.assumeIsolated { $0.reconfigureSoon(settings) }
      harness.settle()
      #expect(client.ask(Self.call("unlock")) == [Self.done])
      #expect(client.ask(Self.call("getAccessToken")).first?.contains("access-1") == true)
    }
  }
}
