import BrokerCore
import BrokerProtocol
import BrokerServer
import TestSupport
import Testing

/// What a broker that is given another configuration takes up of what rests.
@Suite struct ReconfigurationTests {
  private static func call(_ method: String, _ params: String = "{}") -> String {
    #"{"jsonrpc":"2.0","id":9,"method":"\#(method)","params":\#(params)}"#
  }

  @Test func `a profile that comes back has its session again`() async throws {
    try await OwnThread.run {
      let harness = try ServerHarness()
      let client = try harness.connect()
      _ = client.ask(Self.call("login", #"{"email":"a@example.test","password":"right"}"#))
      let work = try #require(ProfileName("work"))
      for name in [work, .default] {
        let settings = [ProfileSettings(name: name, provider: harness.provider)]
        harness.broker.assumeIsolated { $0.reconfigureSoon(settings) }
        harness.settle()
        let answer = client.ask(Self.call("getAccessToken")).first ?? ""
        #expect(answer.contains(name == work ? "loginRequired" : "access-1"), "\(answer)")
      }
    }
  }

  @Test func `a login that waits for its code is not touched`() async throws {
    try await OwnThread.run {
      let harness = try ServerHarness()
      harness.provider.setWantsCode(true)
      let client = try harness.connect()
      _ = client.ask(Self.call("login", #"{"email":"a@example.test","password":"right"}"#))
      let settings = [ProfileSettings(name: .default, provider: harness.provider)]
      harness.broker.assumeIsolated { $0.reconfigureSoon(settings) }
      harness.settle()
      let answer = client.ask(Self.call("verifyOtp", #"{"otpFlowId":"handle-1","code":"123456"}"#)).first
      #expect(answer?.contains("authenticated") == true)
    }
  }
}

extension Broker {
  /// Takes up other profiles on the broker's own executor, which the test turns.
  func reconfigureSoon(_ profiles: [ProfileSettings]) {
    Task { try await reconfigure(profiles) }
  }
}
