import BrokerCore
import BrokerProtocol
import HTTP
import JSON
import ProviderKit
import SecretMemory

/// Sends requests for tokens, and the other requests of the client itself: it has no transport that could send an
/// access token.
struct TokenCaller: Sendable {
  /// The value of a form's field.
  enum Value: Sendable {
    /// A value that is no secret.
    case text(String)
    /// A secret, which is wiped.
    case secret(Secret)
  }

  /// The encoding of the fields.
  enum Encoding: Sendable {
    /// As a form (RFC 6749, appendix B), by the specifications.
    case form
    /// As a JSON object.
    case json
  }

  /// The fields of a form.
  typealias Form = [(name: String, value: Value)]

  /// Sends the requests.
  let transport: PublicTransport
  /// Finds what the client shows at each request.
  let authenticator: ClientAuthenticator
  /// Makes the proofs of requests for tokens that are bound to a key.
  let proofs: ProofBench
  private let configuration: OIDCProfileConfiguration
  private let clock: OIDCProvider.Clock

  /// A caller as a configuration wants it.
  init(
    _ configuration: OIDCProfileConfiguration, _ authenticator: ClientAuthenticator, _ transport: PublicTransport,
    _ proofs: ProofBench, _ clock: @escaping OIDCProvider.Clock
  ) {
    self.proofs = proofs
    self.configuration = configuration
    self.authenticator = authenticator
    self.transport = transport
    self.clock = clock
  }

  /// Sends one form and waits for the answer.
  ///
  /// It is sent a second time only where no connection was made for the first one, so that no byte of it has left, and
  /// where the provider has refused it for its proof alone, so that nothing was spent (RFC 9449, section 8). A session's
  /// refresh token is not sent again here: whose it is opens another intent for that.
  ///
  /// - Parameters:
  ///   - purpose: what is asked for.
  ///   - url: whom.
  ///   - form: with what; the client makes itself known besides.
  ///   - encoding: how it is written.
  ///   - key: the key that the tokens are bound to; nil for none.
  /// - Returns: the answer, whatever it is.
  /// - Throws: what ``ProviderFailure/init(_:)`` makes of a missing response; what ``ClientAuthenticator/proof(for:)`` throws;
  ///   `.transient` with the cause `proofWanted`; `.misconfigured(.possession)` where no proof is accepted.
  func ask(
    _ purpose: OAuthPurpose, _ url: HTTPURL, _ form: Form, as encoding: Encoding = .form, key: ProofKey? = nil
  ) async throws(ProviderFailure) -> OAuthReply {
    guard let key else { return try await send(purpose, url, form, encoding, nil, nil) }
    for _ in 0..<ProofBench.mostTries {
      let proof = try proofs.proof(for: ProvenRequest(.post, url), by: key, .issuer)
      let reply = try await send(purpose, url, form, encoding, key, proof.value)
      switch proofs.judge(reply.proofAnswer, to: proof, at: url, .issuer) {
      case .taken: return reply
      case .refused: throw .misconfigured(.possession)
      case .wanted where purpose.spendsRefreshToken: throw .proofWanted
      case .wanted: continue
      }
    }
    throw .proofWanted
  }

  private func send(
    _ purpose: OAuthPurpose, _ url: HTTPURL, _ form: Form, _ encoding: Encoding, _ key: ProofKey?, _ proof: Secret?
  ) async throws(ProviderFailure) -> OAuthReply {
    var form = form + configuration.dialect.parameters.fields(for: purpose)
    let credentials = try await authenticator.proof(for: url).add(clientID: configuration.clientID, to: &form)
    do throws(HTTPFailure) {
      var request = try request(purpose, url, form, encoding)
      request.proof = proof
      do throws(HTTPFailure) {
        return try await send(purpose, request, credentials, key)
      } catch  where Self.hasNotConnected(error) {
        return try await send(purpose, request, credentials, key)
      }
    } catch {
      throw ProviderFailure(error)
    }
  }

  private func request(
    _ purpose: OAuthPurpose, _ url: HTTPURL, _ form: Form, _ encoding: Encoding
  ) throws(HTTPFailure) -> HTTPRequest {
    let deadline: HTTPRequest.Deadline = purpose.spendsRefreshToken ? .refresh : .interactive
    let body = try encoding == .form ? Self.form(form, deadline) : Self.json(form, deadline)
    var request = HTTPRequest(
      .post, url, fields: [try HTTPField("Accept", "application/json")], body: body, deadline: deadline,
      purpose: "\(purpose)")
    request.isWhole = ReplyObject.isWhole
    return request
  }

  private static func form(_ form: Form, _ deadline: HTTPRequest.Deadline) throws(HTTPFailure) -> HTTPBody {
    let encoder = FormEncoder()
    for (name, value) in form {
      switch value {
      case .text(let text): encoder.append(name, text)
      case .secret(let secret): encoder.append(name, secret)
      }
    }
    return try encoder.finish(for: deadline)
  }

  private static func json(_ form: Form, _ deadline: HTTPRequest.Deadline) throws(HTTPFailure) -> HTTPBody {
    var writer = JSONWriter()
    writer.object { writer in
      for (name, value) in form {
        switch value {
        case .text(let text): writer.member(name, text)
        case .secret(let secret): writer.member(revealing: name, secret)
        }
      }
    }
    return try .json(wiping: &writer.bytes, for: deadline)
  }

  private func send(
    _ purpose: OAuthPurpose, _ request: HTTPRequest, _ credentials: ClientCredentials?, _ key: ProofKey?
  ) async throws(HTTPFailure) -> OAuthReply {
    let sentAt = clock()
    let response = try await transport.send(request, as: credentials)
    return OAuthReply(
      purpose, response, configuration.dialect.quirks, sentBasic: credentials != nil, sentAt: sentAt,
      receivedAt: clock(), key: key)
  }

  /// Whether no server was reached, and quickly: trying again is free.
  private static func hasNotConnected(_ failure: HTTPFailure) -> Bool {
    switch failure {
    case .nameNotResolved, .connectFailed, .connectionLost(false): true
    default: false
    }
  }
}

extension ProviderFailure {
  /// The failure where the provider wants another proof, which can be made now; nothing was spent.
  static let proofWanted = ProviderFailure.transient(.providerUnavailable, cause: .proofWanted)
}
