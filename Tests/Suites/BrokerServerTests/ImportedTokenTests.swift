import BrokerProtocol
import TestSupport
import Testing

/// A login with a refresh token that was issued elsewhere: it is spent by that, and what comes for it comes only once.
@Suite(.standardTimeLimit) struct ImportedTokenTests {
  private static func stage(isLoggedIn: Bool) throws -> (stage: LoginStage, owner: TestClient) {
    let stage = try LoginStage { $0.setLoginMethods([.password, .refreshToken]) }
    stage.client.prove()
    if isLoggedIn { _ = stage.client.askBare(LoginStage.line("login", LoginStage.credentials)) }
    let owner = try stage.harness.connect()
    owner.prove()
    return (stage, owner)
  }

  private static let login = LoginStage.line("login", #"{"refreshToken":"taken"}"#) + "\n"

  /// What the vault has once it was locked and is open again.
  private static func check(_ stage: LoginStage, _ owner: TestClient, _ token: String) {
    #expect(stage.client.lines().contains { $0.contains(#""kind":"vaultLocked""#) })
    #expect(owner.lines().last?.contains(#""result":{}"#) == true && stage.harness.store.isLocked)
    #expect(!stage.harness.provider.revocationLedger.contains { $0.token == "refresh-\(token.suffix(1))" })
    #expect(stage.call("getAccessToken").contains("vaultLocked"))
    #expect(owner.askBare(LoginStage.line("unlock")).last?.contains(#""result":{}"#) == true)
    #expect(stage.call("getAccessToken").contains(token))
    #expect(stage.call("getSession").contains(#""state":"authenticated""#))
  }

  @Test(arguments: [false, true])
  func `a lock while the provider is asked loses nothing of it`(_ isLoggedIn: Bool) async throws {
    try await OwnThread.run {
      let (stage, owner) = try Self.stage(isLoggedIn: isLoggedIn)
      stage.harness.provider.hold()
      stage.client.send(Self.login)
      #expect(stage.harness.provider.waitingCalls == 1)
      owner.send(LoginStage.line("lock") + "\n")
      #expect(owner.lines().isEmpty && !stage.harness.store.isLocked)
      stage.harness.provider.release()
      stage.harness.settle()
      Self.check(stage, owner, isLoggedIn ? "access-2" : "access-1")
    }
  }

  @Test(arguments: [false, true])
  func `a lock between the provider's answer and the vault's loses nothing of it`(_ isLoggedIn: Bool) async throws {
    try await OwnThread.run {
      let (stage, owner) = try Self.stage(isLoggedIn: isLoggedIn)
      stage.harness.store.hold()
      stage.client.send(Self.login)
      owner.send(LoginStage.line("lock") + "\n")
      #expect(owner.lines().isEmpty && !stage.harness.store.isLocked)
      stage.harness.store.release()
      stage.harness.settle()
      Self.check(stage, owner, isLoggedIn ? "access-2" : "access-1")
    }
  }

  @Test func `a logout while the provider is asked gives back what comes`() async throws {
    try await OwnThread.run {
      let (stage, owner) = try Self.stage(isLoggedIn: false)
      stage.harness.provider.hold()
      stage.client.send(Self.login)
      owner.send(LoginStage.line("logout") + "\n")
      stage.harness.provider.release()
      stage.harness.settle()
      #expect(stage.client.lines().first?.contains("cancelled") == true)
      #expect(stage.harness.provider.revocationLedger.map(\.token) == ["refresh-1"])
    }
  }
}
