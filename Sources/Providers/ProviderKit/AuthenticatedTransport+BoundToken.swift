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
}
