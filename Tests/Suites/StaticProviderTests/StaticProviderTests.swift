import BrokerCore
import BrokerProtocol
import ConfigurationFile
import ProviderKit
import SecretMemory
import StaticProvider
import TestSupport
import Testing

/// A provider that gives the secret of a profile.
@Suite(.standardTimeLimit) struct StaticProviderTests {
  private func provider(
    _ result: Result<String, ProviderFailure>,
    field: ConfiguredField = ConfiguredField(name: "X-Api-Key", scheme: "Bearer")
  ) throws -> StaticProvider {
    let configuration = StaticProfileConfiguration(secret: SecretReference("secret", .file("/run/key")), field: field)
    return try StaticProvider(configuration) { _ in
      result.flatMap { text in (try? Secret(utf8: text)).map { .success($0) } ?? .failure(.transient(.overloaded)) }
    }
  }

  private func failure(_ provider: StaticProvider, for target: TokenTarget = TokenTarget()) async -> ProviderFailure? {
    do throws(ProviderFailure) {
      _ = try await provider.tokens(for: target, showing: [], boundTo: nil)
      return nil
    } catch { return error }
  }

  @Test func `the token is the secret, without an end and without a login`() async throws {
    let provider = try provider(.success("key 1"))
    let tokens = try await provider.tokens(for: TokenTarget(), showing: [], boundTo: nil)
    #expect(
      tokens.accessToken.value.revealedString() == "key 1" && tokens.accessTokenExpiresAt == nil
        && tokens.scopes.isEmpty)
    #expect(tokens.refreshToken != nil && provider.areClientsOwn(tokens))
    #expect(provider.loginForms.isEmpty && provider.abilities.isEmpty && provider.capabilities.revocation == nil)
    #expect(provider.capabilities.grant?.configuredField == ConfiguredField(name: "X-Api-Key", scheme: "Bearer"))
  }

  @Test(
    arguments: [
      ("", "it is empty"), ("a\r\nHost: b", "it has a control character"), ("a\nb", "it has a control character"),
      ("a\u{0}", "it has a control character"), ("\u{7F}", "it has a control character"),
      ("ключ", "it has a character that is not ASCII"), (" key", "it begins or ends with a blank"),
      ("key ", "it begins or ends with a blank"),
    ])
  func `what no header can carry is no token, and is not repeated`(secret: String, reason: String) async throws {
    let failure = await failure(try provider(.success(secret)))
    #expect(failure == .credentialMissing(MissingCredential("secret in the file /run/key", reason)))
    #expect(failure?.kind == .missingCredential)
    let findings = try await provider(.success(secret)).examine()
    #expect(
      findings.count == 1 && findings.first?.level == .failure && findings.first?.message.contains(reason) == true)
  }

  @Test func `a secret that cannot be had is missing, and a slow program passes`() async throws {
    let missing = MissingCredential("secret in the file /run/key", "there is no such file", kind: .configInvalid)
    #expect(await failure(try provider(.failure(.credentialMissing(missing))))?.kind == .missingCredential)
    #expect(await failure(try provider(.failure(.transient(.timeout)))) == .transient(.timeout))
  }

  @Test func `there is no other token, whatever is asked`() async throws {
    let provider = try provider(.success("key"))
    #expect(await failure(provider, for: TokenTarget(scopes: ["a"])) == .refused(.insufficientScope))
    #expect(await failure(provider, for: TokenTarget(audience: "https://a.example")) == .refused(.insufficientScope))
    await #expect(throws: ProviderFailure.unsupported) { try await provider.login(Credentials(method: .password)) }
  }
}
