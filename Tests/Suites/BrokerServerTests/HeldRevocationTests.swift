import BrokerCore
import BrokerProtocol
import TestSupport
import Testing

/// Revocations at providers that end more with a token than its own session: no living session is ended by one.
@Suite(.standardTimeLimit) struct HeldRevocationTests {
  private static let away = ProviderFailure.transient(.networkUnavailable)

  /// A session that was logged out while the provider was away, and one that was begun after it.
  private static func stage(secondUser: String = "user-1", wholeGrants: Bool = true) throws -> LoginStage {
    let stage = try LoginStage { provider in
      if wholeGrants { provider.setRevokesWholeGrants() }
      provider.setRevocationFailure(away)
    }
    _ = stage.call("login", LoginStage.credentials)
    #expect(stage.call("logout").contains("pending"))
    #expect(stage.harness.provider.revocations == 1)
    stage.harness.provider.setUser(secondUser)
    _ = stage.call("login", LoginStage.credentials)
    stage.harness.provider.setRevocationFailure(nil)
    stage.wait(600)
    return stage
  }

  @Test func `the tokens of an older session wait for the end of the newer one`() async throws {
    try await OwnThread.run {
      let stage = try Self.stage()
      #expect(stage.harness.provider.revocations == 1 && stage.harness.store.revocations.count == 1)
      #expect(stage.call("logout").contains(#""serverRevoked":"yes""#))
      #expect(stage.harness.provider.revocationLedger.map(\.token).suffix(2).sorted() == ["refresh-1", "refresh-2"])
      #expect(stage.harness.store.revocations.isEmpty)
    }
  }

  @Test func `another user's tokens, and those of a provider that ends one session at a time, wait for nothing`()
    async throws
  {
    try await OwnThread.run {
      for stage in [try Self.stage(secondUser: "user-2"), try Self.stage(wholeGrants: false)] {
        #expect(stage.harness.provider.revocationLedger.last?.token == "refresh-1")
        #expect(stage.harness.store.revocations.isEmpty)
      }
    }
  }

  @Test func `whose tokens they are is known after a restart, too`() async throws {
    try await OwnThread.run {
      for user in ["user-1", "user-2"] {
        let first = try LoginStage { provider in
          provider.setRevokesWholeGrants()
          provider.setRevocationFailure(Self.away)
        }
        _ = first.call("login", LoginStage.credentials)
        _ = first.call("logout")
        first.harness.provider.setUser(user)
        _ = first.call("login", LoginStage.credentials)
        let store = first.harness.store
        let second = try LoginStage(store: store, clock: first.harness.clock) { $0.setRevokesWholeGrants() }
        #expect(second.harness.provider.revocations == (user == "user-1" ? 0 : 1))
      }
    }
  }

  @Test func `a login that is under way is not overtaken by a revocation`() async throws {
    try await OwnThread.run {
      let stage = try LoginStage { provider in
        provider.setRevokesWholeGrants()
        provider.setRevocationFailure(Self.away)
      }
      _ = stage.call("login", LoginStage.credentials)
      _ = stage.call("logout")
      stage.harness.provider.setRevocationFailure(nil)
      stage.harness.provider.setWantsCode(true)
      let answer = stage.call("login", LoginStage.credentials)
      stage.wait(299)
      #expect(stage.harness.provider.revocations == 1)
      #expect(answer.contains("otpRequired"))
      // The challenge is over, and nobody has logged in.
      stage.wait(120)
      #expect(stage.harness.provider.revocations == 2)
    }
  }

  @Test(arguments: [true, false])
  func `a session that is just being begun is not ended by an older revocation`(_ isAsked: Bool) async throws {
    try await OwnThread.run {
      let stage = try LoginStage { provider in
        provider.setRevokesWholeGrants()
        provider.setRevocationFailure(Self.away)
      }
      _ = stage.call("login", LoginStage.credentials)
      _ = stage.call("logout")
      stage.harness.provider.setRevocationFailure(nil)
      // The provider is being asked, or its answer is being saved.
      if isAsked { stage.harness.provider.hold() } else { stage.harness.store.hold() }
      #expect(stage.call("login", LoginStage.credentials).isEmpty)
      stage.wait(600)
      if isAsked { stage.harness.provider.release() } else { stage.harness.store.release() }
      stage.harness.settle()
      #expect(stage.client.lines().first?.contains("authenticated") == true)
      #expect(stage.harness.provider.revocations == 1)
      #expect(stage.call("logout").contains(#""serverRevoked":"yes""#))
      #expect(stage.harness.store.revocations.isEmpty)
    }
  }

  @Test(arguments: [true, false])
  func `a login waits for the answer to a revocation that is on its way, for 2 seconds at most`(
    _ isAnswered: Bool
  ) async throws {
    try await OwnThread.run {
      let stage = try LoginStage { $0.setRevokesWholeGrants() }
      let provider = stage.harness.provider
      _ = stage.call("login", LoginStage.credentials)
      provider.hold()
      #expect(stage.call("logout").isEmpty && provider.waitingCalls == 1)
      #expect(stage.call("login", LoginStage.credentials).isEmpty && provider.waitingCalls == 1)
      if !isAnswered {
        stage.wait(1.9)
        #expect(provider.waitingCalls == 1)
        stage.wait(0.2)
        #expect(provider.waitingCalls == 2)
      }
      provider.release()
      stage.harness.settle()
      #expect(provider.logins.count == 2 && provider.revocations == 1)
      _ = stage.client.lines()
      #expect(stage.call("getSession").contains("authenticated"))
    }
  }

  @Test func `tokens of a login that has waited count from when it was sent, though the clock was set before`()
    async throws
  {
    try await OwnThread.run {
      for step in [-1000, 1000] {
        let stage = try LoginStage { $0.setRevokesWholeGrants() }
        let provider = stage.harness.provider
        _ = stage.call("login", LoginStage.credentials)
        provider.hold()
        #expect(stage.call("logout").isEmpty)
        #expect(stage.call("login", LoginStage.credentials).isEmpty)
        stage.harness.clock.set(by: .seconds(step))
        provider.release()
        stage.harness.settle()
        _ = stage.client.lines()
        let answer = stage.call("getAccessToken")
        let end = stage.harness.clock.now + .seconds(900)
        #expect(answer.contains(#""accessToken":"access-2""#) && answer.contains(#""expiresAt":"\#(end)""#), "\(step)")
      }
    }
  }

  @Test func `a login that waits for a revocation is overtaken by another logout`() async throws {
    try await OwnThread.run {
      let stage = try LoginStage { $0.setRevokesWholeGrants() }
      let provider = stage.harness.provider
      _ = stage.call("login", LoginStage.credentials)
      provider.hold()
      _ = stage.call("logout")
      #expect(stage.call("login", LoginStage.credentials).isEmpty)
      // A logout is the newer wish.
      _ = stage.call("logout")
      provider.release()
      stage.wait(3)
      #expect(provider.logins.count == 1)
      _ = stage.client.lines()
      #expect(stage.call("getSession").contains("signedOut"))
    }
  }

  @Test(arguments: [true, false])
  func `the end of all sessions ends no session that was begun after it was asked for`(_ hasNewer: Bool) async throws {
    try await OwnThread.run {
      let stage = try LoginStage { $0.setRevocationFailure(Self.away) }
      _ = stage.call("login", LoginStage.credentials)
      #expect(stage.call("logout", #"{"everywhere":true}"#).contains("pending"))
      if hasNewer { _ = stage.call("login", LoginStage.credentials) }
      stage.harness.provider.setRevocationFailure(nil)
      stage.wait(600)
      let ledger = stage.harness.provider.revocationLedger
      #expect(ledger.count >= 2 && ledger.allSatisfy { $0.token == "refresh-1" })
      #expect(ledger.first?.everywhere == true && ledger.last?.everywhere == !hasNewer)
      #expect(stage.harness.store.revocations.isEmpty)
    }
  }
}
