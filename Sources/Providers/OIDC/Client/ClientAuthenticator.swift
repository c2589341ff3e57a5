import BrokerCore
import BrokerProtocol
import ConfigurationFile
import HTTP
import ProviderKit
import SecretMemory

/// Finds what a profile's client shows at each request, again each time.
struct ClientAuthenticator: Sendable {
  /// The client's name at the provider.
  let clientID: String
  /// The client authentication.
  let method: OIDCDialect.ClientAuthentication
  /// The reference to the client's password.
  let password: SecretReference?
  /// The source of its assertion; nil for a client with a password, or none.
  let assertion: ClientAssertion?
  /// Finds the password.
  let secrets: SecretFinder
  /// Gets assertions of other parties.
  let reader: AssertionReader

  /// The authenticator of a profile's client.
  init(
    _ configuration: OIDCProfileConfiguration, _ secrets: @escaping SecretFinder, _ client: HTTPClient,
    _ clock: @escaping OIDCProvider.Clock
  ) {
    clientID = configuration.clientID
    method = configuration.clientAuthentication
    password = configuration.clientSecret
    assertion = configuration.clientAssertion
    self.secrets = secrets
    reader = AssertionReader(
      secrets: secrets, transport: AuthenticatedTransport(client), issuer: configuration.dialect.issuer, clock: clock)
  }

  /// The proof for one request.
  ///
  /// - Parameter url: the endpoint that is asked; nil to see whether there is a proof.
  /// - Returns: the proof.
  /// - Throws: what the source of the password throws; `.credentialMissing` for an assertion.
  func proof(for url: HTTPURL?) async throws(ProviderFailure) -> ClientProof {
    switch assertion {
    case .issued(let source, let type): return .assertion(try await reader.assertion(source), type)
    case .signed(let key): return .assertion(try await signed(with: key, for: url), .jwtBearer)
    case nil: break
    }
    guard method != .none, let password else { return .name }
    let secret = try await secrets(password).get()
    return method == .post ? .post(secret) : .basic(secret)
  }
}
