import BrokerCore
import BrokerProtocol
import Sealing
import SecretMemory
import TestSupport
import Testing

@testable import LocalProvider

/// How passwords are compared with hashes of today and of earlier versions.
@Suite(.standardTimeLimit) struct PasswordProofTests {
  private static let composed = "a r\u{E9}al password"
  private static let decomposed = "a re\u{301}al password"

  /// What a login comes to, and how many hashes it takes.
  private struct Outcome: Equatable {
    var refusal: ProviderFailure?
    var hashes: Int
  }

  private func login(
    _ fixture: ProviderFixture, _ password: String, _ email: String = "a@example.com"
  ) async throws -> Outcome {
    let credentials = try fixture.credentials(email, password: password)
    let before = fixture.hashCount
    let refusal = await failure { () throws(ProviderFailure) in try await fixture.provider.login(credentials) }
    return Outcome(refusal: refusal, hashes: fixture.hashCount - before)
  }

  @Test func `a password that was hashed as it was typed is taken once more so, and then in any composition`()
    async throws
  {
    try await ProviderFixture.run { fixture in
      let earlier = try EarlierDatabase(version: 2, in: fixture)
      try earlier.addAccount("ada", "a@example.com", password: Self.decomposed)
      try earlier.close()
      #expect(try await login(fixture, Self.composed) == Outcome(refusal: .refused(.invalidCredentials), hashes: 1))
      #expect(try await login(fixture, Self.decomposed) == Outcome(hashes: 3))
      #expect(try await login(fixture, Self.composed) == Outcome(hashes: 1))
      #expect(try await login(fixture, Self.decomposed) == Outcome(hashes: 1))
    }
  }

  @Test func `a hash of other work is made again at the login, and no later one`() async throws {
    try await ProviderFixture.run { fixture in
      let earlier = try EarlierDatabase(version: 2, in: fixture)
      let work = PasswordHash.Parameters(passes: 2, memoryKiB: 8)
      try earlier.addAccount("ada", "a@example.com", password: Self.composed, work: work)
      try earlier.close()
      #expect(try await login(fixture, Self.composed) == Outcome(hashes: 2))
      #expect(try await login(fixture, Self.composed) == Outcome(hashes: 1))
      let renewed: StaticString = """
        SELECT count(*) FROM account WHERE CAST(password_hash AS TEXT) LIKE '$argon2id$v=19$m=8,t=1,p=1$%'
        """
      #expect(try await fixture.number(renewed) == 1)
    }
  }

  @Test(arguments: ["not this password", decomposed])
  func `an unknown address takes as many hashes as a wrong password`(_ password: String) async throws {
    try await ProviderFixture.run { fixture in
      _ = try await fixture.session()
      let known = try await login(fixture, password)
      let unknown = try await login(fixture, password, "unknown@example.com")
      #expect(unknown == known)
      #expect(
        known == Outcome(refusal: .refused(.invalidCredentials), hashes: password == Self.decomposed ? 2 : 1))
    }
  }

  @Test func `an overlong password is no guess`() async throws {
    try await ProviderFixture.run { fixture in
      _ = try await fixture.session()
      let overlong = String(repeating: "x", count: 1025)
      for _ in 1...5 {
        #expect(try await login(fixture, overlong) == Outcome(refusal: .refused(.invalidCredentials), hashes: 0))
      }
    }
  }
}
