import BrokerCore
import BrokerProtocol
import TestSupport
import Testing

/// What the end of an account, or another password, means for sessions that are kept for an earlier configuration.
@Suite(.standardTimeLimit) struct ParkedAccountTests {
  /// A session that is kept, and the same user on another profile of its provider.
  private static func stage() throws -> ParkedStage {
    let stage = try ParkedStage()
    _ = stage.call("login", LoginStage.credentials)
    stage.configureBoth(loggingIn: try #require(ProfileName("a")))
    #expect(stage.harness.store.parked.count == 1)
    return stage
  }

  private static let calls = [
    ("deleteAccount", #"{"profile":"a","password":"right"}"#),
    ("resetPassword", #"{"profile":"a","token":"t","password":"new"}"#),
  ]

  @Test(arguments: calls)
  func `it is kept nowhere, and its tokens are revoked`(_ method: String, _ params: String) async throws {
    try await OwnThread.run {
      let stage = try Self.stage()
      #expect(stage.call(method, params).contains(#""result":{}"#))
      stage.harness.settle()
      #expect(stage.harness.store.parked.isEmpty)
      #expect(stage.harness.provider.revocationLedger.contains { $0.token == "refresh-1" })
    }
  }

  @Test(arguments: calls)
  func `who asked is answered once that is durable`(_ method: String, _ params: String) async throws {
    try await OwnThread.run {
      let stage = try Self.stage()
      stage.harness.store.hold()
      #expect(stage.call(method, params) == "")
      stage.harness.settle()
      #expect(stage.client.lines().isEmpty && stage.harness.store.parked.count == 1)
      stage.harness.store.release()
      stage.harness.settle()
      #expect(stage.client.lines().first?.contains(#""result":{}"#) == true && stage.harness.store.parked.isEmpty)
    }
  }

  @Test(arguments: calls)
  func `what the store refuses is told, and tried again`(_ method: String, _ params: String) async throws {
    try await OwnThread.run {
      let stage = try Self.stage()
      stage.harness.store.failure = .failed(context: "a full disk")
      #expect(stage.call(method, params).contains("storeFailed"))
      #expect(stage.harness.store.parked.count == 1)
      stage.harness.store.failure = nil
      stage.wait(.seconds(61))
      #expect(stage.harness.store.parked.isEmpty)
    }
  }

  @Test func `the session of a profile that is gone ends with its account`() async throws {
    try await OwnThread.run {
      let stage = try ParkedStage()
      _ = stage.call("login", LoginStage.credentials)
      stage.configure(stage.harness.provider, as: try #require(ProfileName("a")))
      _ = stage.call("login", #"{"profile":"a","email":"a@example.test","password":"right"}"#)
      #expect(stage.harness.store.parked.count == 1)
      #expect(stage.call("deleteAccount", #"{"profile":"a","password":"right"}"#).contains(#""result":{}"#))
      #expect(stage.harness.store.parked.isEmpty)
      let left = stage.harness.store.records.filter { if case .living = $0.contents { true } else { false } }
      #expect(left.isEmpty)
    }
  }

  @Test func `the kept session of another user outlives the account`() async throws {
    try await OwnThread.run {
      let stage = try ParkedStage()
      _ = stage.call("login", LoginStage.credentials)
      stage.harness.provider.setUser("user-2")
      stage.configureBoth(loggingIn: try #require(ProfileName("a")))
      #expect(stage.call("deleteAccount", #"{"profile":"a","password":"right"}"#).contains(#""result":{}"#))
      #expect(stage.harness.store.parked.count == 1)
    }
  }
}
