import BrokerCore
import BrokerProtocol
import BrokerServer
import TestSupport
import Testing

/// A vault that is locked by itself: where no client uses it, and where the machine has slept.
@Suite(.standardTimeLimit) struct AutoLockTests {
  private static func call(_ method: String, _ params: String = "{}", _ id: Int = 9) -> String {
    #"{"jsonrpc":"2.0","id":\#(id),"method":"\#(method)","params":\#(params)}"#
  }

  private static func login(_ profile: String = "default") -> String {
    call("login", #"{"profile":"\#(profile)","email":"a@example.test","password":"right"}"#)
  }

  private static let token = call("getAccessToken")

  private func harness(
    idle: Int = 0, onSuspend: Bool = false, profiles: [String] = ["default"]
  ) throws -> ServerHarness {
    let harness = try ServerHarness(profiles: profiles)
    let rules = AutoLockRules(idleTimeout: .seconds(idle), locksOnSuspend: onSuspend)
    harness.broker.assumeIsolated { $0.setAutoLock(rules) }
    return harness
  }

  private func isLocked(_ answer: [String]) -> Bool { answer.first?.contains(#""kind":"vaultLocked""#) == true }

  @Test func `a vault that no client uses is locked, and says so`() async throws {
    try await OwnThread.run {
      let harness = try harness(idle: 300)
      let (client, watcher) = (try harness.connect(), try harness.connect())
      _ = watcher.ask(Self.call("subscribe", #"{"events":["vaultLocked"]}"#))
      _ = client.ask(Self.login())
      let token = client.ask(Self.token)
      harness.clock.advance(by: .seconds(299))
      #expect(client.ask(Self.token) == token && watcher.lines().isEmpty)
      harness.clock.advance(by: .seconds(299))
      harness.settle()
      #expect(!harness.store.isLocked)
      harness.clock.advance(by: .seconds(1))
      harness.settle()
      #expect(harness.store.isLocked && watcher.lines().first?.contains("vaultLocked") == true)
      #expect(isLocked(client.ask(Self.token)))
      #expect(client.ask(Self.call("unlock")).first?.contains("result") == true)
      #expect(client.ask(Self.token) == token)
      harness.clock.advance(by: .seconds(300))
      harness.settle()
      #expect(harness.store.isLocked)
      #expect(harness.clock.timerCount == 0)
    }
  }

  @Test(arguments: [
    (call("getSession"), false), (call("listSessions"), false), (call("getStatus"), false),
    (call("getCurrentUser"), true), (call("ping"), false), (call("getAccessToken", #"{"profile":"b"}"#), true),
    (call("getAccessToken", #"{"profile":"b","minValiditySeconds":60}"#), true),
    (call("reportRejected", #"{"profile":"b","tokenId":"x"}"#), true), (login("b"), true), (call("reloadConfig"), true),
    (call("checkVault"), true),
  ])
  func `what uses a session, logins and administration are uses, looks are none`(
    _ request: String, _ isUse: Bool
  ) async throws {
    try await OwnThread.run {
      let harness = try harness(idle: 600, profiles: ["default", "b"])
      let client = try harness.connect()
      for name in ["default", "b"] { _ = client.ask(Self.login(name)) }
      _ = client.ask(Self.call("getAccessToken", #"{"profile":"b"}"#))
      harness.clock.advance(by: .seconds(400))
      _ = client.ask(request)
      harness.settle()
      harness.clock.advance(by: .seconds(200))
      harness.settle()
      #expect(harness.store.isLocked == !isUse)
      harness.clock.advance(by: .seconds(399))
      harness.settle()
      #expect(harness.store.isLocked == !isUse)
    }
  }

  @Test func `a profile that is not used has its token at once while another one is`() async throws {
    try await OwnThread.run {
      let harness = try harness(idle: 200, profiles: ["default", "b"])
      let client = try harness.connect()
      let other = Self.call("getAccessToken", #"{"profile":"b"}"#)
      for name in ["default", "b"] { _ = client.ask(Self.login(name)) }
      let token = client.ask(other)
      for _ in 1...4 {
        harness.clock.advance(by: .seconds(150))
        _ = client.ask(Self.token)
      }
      let (wall, uptime) = harness.clock.milliseconds
      let name = Array("b".utf8)
      func cached() -> Bool {
        harness.broker.answers.answer(profile: name.span, for: .all, minValidity: nil, wall: wall, uptime: uptime)
          != nil
      }
      #expect(!cached())
      #expect(client.ask(other) == token)
      #expect(cached())
    }
  }

  @Test func `a request that comes before the timer finds the vault locked`() async throws {
    try await OwnThread.run {
      for request in [Self.token, Self.call("getSession")] {
        let harness = try harness(idle: 600)
        let client = try harness.connect()
        _ = client.ask(Self.login())
        _ = client.ask(Self.token)
        harness.clock.sleep(for: .seconds(700))
        let answer = client.ask(request)
        #expect(isLocked(answer) || answer.first?.contains(#""state":"locked""#) == true, "\(answer)")
      }
    }
  }

  @Test func `a refresh that is under way is finished and saved`() async throws {
    try await OwnThread.run {
      let harness = try harness(idle: 20)
      let client = try harness.connect()
      _ = client.ask(Self.login())
      harness.provider.hold()
      #expect(client.ask(Self.call("getAccessToken", #"{"forceRefresh":true}"#)).isEmpty)
      harness.clock.advance(by: .seconds(20))
      #expect(isLocked(client.lines()) && !harness.store.isLocked)
      harness.provider.release()
      harness.settle()
      #expect(harness.store.isLocked)
      _ = client.ask(Self.call("unlock"))
      #expect(client.ask(Self.token).first?.contains("access-2") == true)
    }
  }

  @Test func `a token that comes while the machine wakes is not given out`() async throws {
    try await OwnThread.run {
      let harness = try harness(onSuspend: true)
      let client = try harness.connect()
      _ = client.ask(Self.login())
      harness.provider.hold()
      #expect(client.ask(Self.call("getAccessToken", #"{"forceRefresh":true}"#)).isEmpty)
      harness.clock.sleep(for: .seconds(10))
      harness.provider.release()
      harness.settle()
      #expect(isLocked(client.lines()) && harness.store.isLocked)
      _ = client.ask(Self.call("unlock"))
      #expect(client.ask(Self.token).first?.contains("access-2") == true)
    }
  }

  @Test func `a login that waits for its code keeps the vault open`() async throws {
    try await OwnThread.run {
      let harness = try harness(idle: 60)
      let client = try harness.connect()
      harness.provider.setWantsCode(true)
      _ = client.ask(Self.login())
      harness.clock.advance(by: .seconds(100))
      harness.settle()
      #expect(!harness.store.isLocked)
    }
  }

  @Test(arguments: [true, false])
  func `a machine that has slept finds the vault locked, before anything is answered`(_ isTold: Bool) async throws {
    try await OwnThread.run {
      let harness = try harness(onSuspend: true)
      let client = try harness.connect()
      _ = client.ask(Self.login())
      let token = client.ask(Self.token)
      harness.clock.advance(by: .seconds(100))
      #expect(client.ask(Self.token) == token)
      if isTold { harness.clock.suspend(for: .seconds(5)) } else { harness.clock.sleep(for: .milliseconds(300)) }
      #expect(isLocked(client.ask(Self.token)))
      harness.settle()
      #expect(harness.store.isLocked)
      _ = client.ask(Self.call("unlock"))
      #expect(client.ask(Self.token) == token)
    }
  }

  @Test func `a clock that is set locks nothing, and neither does a sleep that is of no interest`() async throws {
    try await OwnThread.run {
      let (watching, other) = (try harness(onSuspend: true), try harness(idle: 600))
      for harness in [watching, other] { _ = try harness.connect().ask(Self.login()) }
      watching.clock.set(by: .seconds(3600))
      other.clock.suspend(for: .seconds(300))
      for harness in [watching, other] {
        harness.settle()
        #expect(!harness.store.isLocked)
      }
    }
  }

  @Test func `other rules hold at once`() async throws {
    try await OwnThread.run {
      let harness = try harness()
      let client = try harness.connect()
      _ = client.ask(Self.login())
      let token = client.ask(Self.token)
      harness.clock.advance(by: .seconds(300))
      harness.broker.assumeIsolated { $0.setAutoLock(AutoLockRules(idleTimeout: .seconds(100))) }
      #expect(client.ask(Self.token) == token)
      harness.broker.assumeIsolated { $0.setAutoLock(AutoLockRules()) }
      harness.clock.advance(by: .seconds(100))
      harness.settle()
      #expect(client.ask(Self.token) == token)
      harness.broker.assumeIsolated { $0.setAutoLock(AutoLockRules(idleTimeout: .seconds(100))) }
      harness.clock.advance(by: .seconds(100))
      harness.settle()
      #expect(isLocked(client.ask(Self.token)))
    }
  }
}
