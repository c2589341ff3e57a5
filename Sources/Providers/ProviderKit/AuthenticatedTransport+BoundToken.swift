package import BrokerCore
import BrokerProtocol
package import HTTP
import JSON

/// Requests that present an access token to a provider.
extension AuthenticatedTransport {
  /// Sends a request with a token, and waits for its response; cancelling the task gives it up.
  ///
  /// - Parameters:
  ///   - request: what to send; with a proof where the token is bound to a key.
  ///   - token: whose request it is.
  /// - Returns: the response, whatever its status; a 401 is not acted on here.
  /// - Throws: `HTTPFailure` when there is none; `.invalidField` when the token cannot be sent.
  package func send(_ request: HTTPRequest, with token: BoundToken) async throws(HTTPFailure) -> HTTPResponse {
    switch token.kind {
    case .bearer: return try await send(request, bearer: token.value)
    case .proven: return try await send(request, proven: token.value)
    case .subject: throw .invalidField
    }
  }

  /// Prepares a request with a token that is sent, and whose response is taken, piece by piece: see
  /// ``stream(_:_:bearer:stillness:to:)``.
  ///
  /// - Parameters:
  ///   - request: what to send; it gets a proof where the token is bound to a key.
  ///   - upload: its body.
  ///   - loan: the token, and what makes its proofs.
  ///   - nonce: the nonce that the server has demanded for the proof; nil for the last one that is known.
  ///   - stillness: how long the server may take to go on.
  ///   - sink: what the response goes to.
  /// - Returns: the request, to be run.
  /// - Throws: `.internal` when the token cannot be sent; as `ProofProvider.proof(of:for:)`.
  package func stream(
    _ request: HTTPRequest, _ upload: HTTPUpload? = nil, with loan: LentToken, nonce: String? = nil,
    stillness: Duration, to sink: any ResponseSink & Sendable
  ) throws(ProviderFailure) -> HTTPStream {
    let token = loan.token
    if let field = loan.field {
      let scheme = field.name == "Authorization" ? field.scheme : ""
      return stream(
        request, upload, secret: token.value, in: field.name, scheme: scheme, stillness: stillness, to: sink)
    }
    switch token.kind {
    case .bearer: return stream(request, upload, bearer: token.value, stillness: stillness, to: sink)
    case .proven:
      guard let prover = loan.prover else { throw .unsupported }
      var request = request
      // A proof is shown once, also where a kept connection turns out to be dead.
      request.delivery = .once
      var subject = ProvenRequest(
        method: request.method.rawValue, address: request.url.written,
        origin: "\(request.url.scheme.rawValue)://\(request.url.host):\(request.url.port)")
      subject.nonce = nonce
      request.proof = try prover.proof(of: token, for: subject)
      return stream(request, upload, proven: token.value, stillness: stillness, to: sink)
    case .subject: throw .transient(.`internal`)
    }
  }

  /// The nonce that a response demands for another proof; nil where it demands none (RFC 9449, section 9).
  package static func demandedNonce(in response: HTTPResponse) -> String? {
    guard response.status == 401, response.field("www-authenticate")?.includes("use_dpop_nonce") == true else {
      return nil
    }
    return response.field("dpop-nonce")
  }
}
