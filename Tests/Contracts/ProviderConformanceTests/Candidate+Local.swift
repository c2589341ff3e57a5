import BrokerCore
import BrokerProtocol
import Sealing
import SecretMemory
import TestSupport

@testable import LocalProvider

/// The embedded provider.
extension Candidate {
  static func runLocal(_ body: (Candidate) async throws -> Void) async throws {
    try Sealing.initialize()
    let scratch = Scratch()
    let key = try SealingKey.random()
    // The smallest work that Argon2id allows.
    let provider = LocalProvider(
      stateDirectory: scratch.path, passwordHash: PasswordHash.Parameters(passes: 1, memoryKiB: 8), sealingKey: { key })
    let result: Result<Void, any Error>
    do {
      let password = try Secret(utf8: "made-up-password")
      let credentials = Credentials(email: "ann@example.com", password: password)
      _ = try await provider.register(Registration(email: "ann@example.com", password: password, name: "Ann"))
      let candidate = Candidate(provider: provider, credentials: credentials) {
        guard case .authenticated(let other) = try await provider.login(credentials) else { throw NoSession() }
        try await provider.revoke(other.tokens, everywhere: true)
      }
      result = .success(try await body(candidate))
    } catch { result = .failure(error) }
    await provider.shutDown()
    try result.get()
  }
}
