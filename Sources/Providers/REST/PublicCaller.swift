import BrokerCore
import BrokerProtocol
import ConfigurationFile
import HTTP
import ProviderKit
import SecretMemory

/// Sends the requests that need no session: it has no transport that could send an access token.
struct PublicCaller: Sendable {
  /// Makes the requests.
  let maker: RequestMaker
  /// Sends them.
  let transport: PublicTransport
  /// The time.
  let clock: RESTProvider.Clock
  private let clientID: String
  private let clientSecret: SecretReference?
  private let secrets: SecretFinder

  /// A caller as a configuration wants it.
  init(
    _ maker: RequestMaker, _ transport: PublicTransport, _ configuration: RESTProfileConfiguration,
    _ secrets: @escaping SecretFinder, _ clock: @escaping RESTProvider.Clock
  ) {
    self.maker = maker
    self.transport = transport
    clientID = configuration.clientID
    clientSecret = configuration.clientSecret
    self.secrets = secrets
    self.clock = clock
  }

  /// Sends one request and waits for the answer.
  ///
  /// It is sent a second time only where no connection was made for the first one, so that no byte of it has left.
  ///
  /// - Throws: `.unsupported` for an endpoint that the backend has not; what ``ProviderFailure/init(_:)`` makes of a
  ///   missing response; what the source of the client's password throws.
  func ask(
    _ name: RESTEndpoint.Name, _ values: [(RESTEndpoint.Field, RequestFields.Value)],
    extra: [(String, RequestFields.Value)] = [], encoding: RESTMapping.Encoding? = nil
  ) async throws(ProviderFailure) -> BackendReply {
    guard maker.mapping.endpoints[name] != nil else { throw .unsupported }
    var extra = extra
    let credentials = try await credentials(&extra)
    do throws(HTTPFailure) {
      guard let request = try maker.request(name, values, extra: extra, encoding: encoding) else {
        throw .invalidURL
      }
      do throws(HTTPFailure) {
        return try await send(request, credentials, name)
      } catch  where Self.hasNotConnected(error) {
        return try await send(request, credentials, name)
      }
    } catch {
      throw ProviderFailure(error)
    }
  }

  private func send(
    _ request: HTTPRequest, _ credentials: ClientCredentials?, _ name: RESTEndpoint.Name
  ) async throws(HTTPFailure) -> BackendReply {
    let sentAt = clock()
    let response = try await transport.send(request, as: credentials)
    return BackendReply(
      name, response, maker.mapping, sentBasic: credentials != nil, sentAt: sentAt, receivedAt: clock())
  }

  /// Whether no server was reached, and quickly: trying again is free.
  private static func hasNotConnected(_ failure: HTTPFailure) -> Bool {
    switch failure {
    case .nameNotResolved, .connectFailed, .connectionLost(false): true
    default: false
    }
  }

  /// The client's password, or why it cannot be read; nil where there is none.
  func secret() async -> Result<Secret, ProviderFailure>? {
    guard maker.mapping.clientAuthentication != .none, let clientSecret else { return nil }
    return await secrets(clientSecret)
  }

  private func credentials(
    _ extra: inout [(String, RequestFields.Value)]
  ) async throws(ProviderFailure) -> ClientCredentials? {
    guard let secret = try await secret()?.get() else { return nil }
    guard maker.mapping.clientAuthentication == .post else { return ClientCredentials(id: clientID, secret: secret) }
    extra += [("client_id", .text(clientID)), ("client_secret", .secret(secret))]
    return nil
  }
}
