package import BrokerCore
package import BrokerProtocol
import ConfigurationFile
package import ProviderKit
package import SecretMemory

/// An API key or a personal access token that its owner has made elsewhere, and that the configuration refers to.
///
/// There is no server to ask, no login and no expiry: a session's token is the secret as its source gives it.
package final class StaticProvider: AuthProvider {
  /// The type's name in the configuration.
  package static let type = "static"
  /// The source and the field that carries it: a secret of one source is never sent as that of another, or in its field.
  package let binding: ProviderBinding

  private let configuration: StaticProfileConfiguration
  private let secrets: SecretFinder
  /// The stand-in for the refresh token that no server has issued.
  private let renewal: BoundToken

  /// A provider; nothing is read yet.
  ///
  /// - Parameters:
  ///   - configuration: where the secret is, and how it is sent.
  ///   - secrets: finds the secret when it is needed.
  /// - Throws: `SecretMemoryExhausted`.
  package init(
    _ configuration: StaticProfileConfiguration, secrets: @escaping SecretFinder
  ) throws(SecretMemoryExhausted) {
    self.configuration = configuration
    self.secrets = secrets
    renewal = BoundToken(try Secret(utf8: Self.type))
    binding = ProviderBinding(type: Self.type, clientID: configuration.mark)
  }

  /// None: there is nothing to log in to.
  package var loginForms: [LoginForm] { [] }

  /// None: what a secret is good for was said where it was made.
  package var requestedScopes: [String] { [] }

  /// The secret itself, and nothing that needs a server.
  package var capabilities: ProviderCapabilities {
    var capabilities = ProviderCapabilities()
    capabilities.grant = self
    capabilities.clientSessions = self
    return capabilities
  }

  /// Refuses a login: the secret is made elsewhere.
  package func login(_ credentials: Credentials) async throws(ProviderFailure) -> LoginOutcome { throw .unsupported }

  /// Reads the secret again.
  package func refresh(_ refreshToken: BoundToken) async throws(ProviderFailure) -> TokenSet {
    try await tokens(for: TokenTarget(), showing: [], boundTo: nil)
  }

  /// Reads the secret: there is nothing else that could be missing.
  package func probe() async -> ProviderProbe {
    do throws(ProviderFailure) {
      _ = try await secret()
      return .here("Its secret can be read: nothing to reach.")
    } catch {
      let finding = ProviderFinding.secret(
        StaticProfileConfiguration.secretKey, Result<Secret, ProviderFailure>.failure(error))
      return .broken(error, advice: finding.message)
    }
  }

  /// Reads the secret, and reports whether it can be sent.
  package func examine() async -> [ProviderFinding] {
    do throws(ProviderFailure) {
      return [
        .secret(StaticProfileConfiguration.secretKey, Result<Secret, ProviderFailure>.success(try await secret()))
      ]
    } catch {
      return [.secret(StaticProfileConfiguration.secretKey, Result<Secret, ProviderFailure>.failure(error))]
    }
  }

  /// The secret, as its source gives it now.
  ///
  /// - Throws: `.credentialMissing` for one that cannot be had, or that no field of a request can carry; `.transient` for a
  ///   program that took too long.
  private func secret() async throws(ProviderFailure) -> Secret {
    let reference = configuration.secret
    switch await secrets(reference) {
    case .success(let secret):
      if let reason = FieldValue.flaw(of: secret) {
        throw .credentialMissing(MissingCredential(reference.name, reason))
      }
      return secret
    case .failure(.credentialMissing(let credential)):
      // What a profile of another provider shows of itself is a part of the configuration; this is the token.
      throw .credentialMissing(MissingCredential(credential.subject, credential.reason))
    case .failure(let failure): throw failure
    }
  }
}

extension StaticProvider: GrantProvider, ClientSessionProvider {
  /// The word for it in events.
  package var grantName: String { Self.type }

  /// None.
  package var subjects: [SubjectReference] { [] }

  /// The field that carries the secret.
  package var configuredField: ConfiguredField? { configuration.field }

  /// Whether there is no user: of a secret it is not known whose it is.
  package func areClientsOwn(_ tokens: TokenSet) -> Bool { true }

  /// Reads the secret.
  ///
  /// - Throws: `.refused(.insufficientScope)` for a target of its own: there is one secret, whatever is asked.
  package func tokens(
    for target: TokenTarget, showing subjects: [SubjectToken], boundTo key: ProofKey?
  ) async throws(ProviderFailure) -> TokenSet {
    guard target.scopes.isEmpty, target.audience == nil else { throw .refused(.insufficientScope) }
    var tokens = TokenSet(accessToken: try await secret(), accessTokenExpiresAt: nil, refreshToken: nil)
    tokens.refreshToken = renewal
    return tokens
  }
}
