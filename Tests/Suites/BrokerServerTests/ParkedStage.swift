import BrokerCore
import BrokerProtocol
import BrokerServer
import TestSupport
import Testing
import Transport

/// A broker whose profile can be given to another provider, and back.
struct ParkedStage {
  let harness: ServerHarness
  let client: TestClient
  let watcher: TestClient
  let other: ScriptedProvider

  init(store: InMemoryStore = InMemoryStore(), clock: ManualClock = ManualClock(), isOther: Bool = false) throws {
    harness = try ServerHarness(store: store, clock: clock, providerType: isOther ? "other" : "scripted")
    client = try harness.connect()
    watcher = try harness.connect()
    let loop = harness.loop
    other = ScriptedProvider(clock: clock, gate: GateExecutor { loop.post($0) }, type: "other")
    _ = watcher.ask(LoginStage.line("subscribe"))
  }

  func call(_ method: String, _ params: String = "{}") -> String {
    client.ask(LoginStage.line(method, params)).first ?? ""
  }

  /// Has the provider asked for new tokens, which it gives only once it is released.
  func beginRefresh() {
    harness.provider.hold()
    client.send(LoginStage.line("getAccessToken", #"{"forceRefresh":true}"#) + "\n")
  }

  func configure(_ provider: ScriptedProvider, as name: ProfileName = .default) {
    let settings = [ProfileSettings(name: name, provider: provider)]
    harness.broker.assumeIsolated { $0.reconfigureSoon(settings) }
    harness.settle()
  }

  var events: [String] {
    watcher.lines().compactMap { line in
      let parts = line.split(separator: #""event":""#, maxSplits: 1)
      return parts.count == 2 ? parts[1].split(separator: "\"").first.map(String.init) : nil
    }
  }

  func set(by difference: Duration) {
    harness.clock.set(by: difference)
    harness.settle()
  }

  func wait(_ time: Duration) {
    harness.clock.advance(by: time)
    harness.settle()
  }

  /// Gives the profile to the other provider, and another one to its own, on which a user logs in.
  func configureBoth(loggingIn name: ProfileName) {
    let settings = [
      ProfileSettings(name: .default, provider: other), ProfileSettings(name: name, provider: harness.provider),
    ]
    harness.broker.assumeIsolated { $0.reconfigureSoon(settings) }
    harness.settle()
    _ = call("login", #"{"profile":"\#(name)","email":"a@example.test","password":"right"}"#)
  }
}
