import BrokerCore
import BrokerProtocol
import TestSupport
import Testing

/// That a client to which profiles are hidden is told nothing of them.
@Suite(.standardTimeLimit) struct HiddenProfileTests {
  /// A client for which one profile exists.
  static func connect(_ harness: ServerHarness, _ visible: [String] = ["shop"]) throws -> TestClient {
    try harness.connect(visible: ProfileMask(visible.compactMap { ProfileName($0) }))
  }

  static func logIn(_ client: TestClient, _ profile: String) -> [String] {
    client.ask(LoginStage.line("login", #"{"profile":"\#(profile)","email":"a@example.test","password":"right"}"#))
  }

  @Test func `a cached token is answered to whom its profile exists for`() async throws {
    try await OwnThread.run {
      let harness = try ServerHarness(profiles: ["shop", "work"])
      let owner = try harness.connect()
      for profile in ["shop", "work"] { _ = Self.logIn(owner, profile) }
      func named(_ profile: String) -> String { LoginStage.line("getAccessToken", #"{"profile":"\#(profile)"}"#) }
      for profile in ["shop", "work"] { #expect(owner.ask(named(profile)).first?.contains("access-") == true) }
      let client = try Self.connect(harness)
      #expect(client.ask(named("shop")).first?.contains(#""profile":"shop""#) == true)
      #expect(client.ask(LoginStage.line("getAccessToken")).first?.contains(#""profile":"shop""#) == true)
    }
  }
}
