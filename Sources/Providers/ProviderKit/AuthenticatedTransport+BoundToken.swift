package import BrokerCore
package import HTTP

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
  /// - Throws: `.invalidField` when the token cannot be sent.
  package func stream(
    _ request: HTTPRequest, _ upload: HTTPUpload? = nil, with token: BoundToken, stillness: Duration,
    to sink: any ResponseSink & Sendable
  ) throws(HTTPFailure) -> HTTPStream {
    switch token.kind {
    case .bearer: return stream(request, upload, bearer: token.value, stillness: stillness, to: sink)
    case .subject: throw .invalidField
    }
  }
}
