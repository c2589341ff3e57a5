package import SecretMemory

/// Sends requests on behalf of a session: each carries an access token (RFC 6750, section 2.1).
package struct AuthenticatedTransport: Sendable {
  /// The client that sends the requests.
  let client: HTTPClient
  /// The server certificates that are accepted.
  let policy: TLSPolicy

  /// A transport for one server's policy.
  package init(_ client: HTTPClient, policy: TLSPolicy = TLSPolicy()) {
    self.client = client
    self.policy = policy
  }

  /// Sends a request and waits for its response; cancelling the task gives it up.
  ///
  /// - Parameters:
  ///   - request: what to send.
  ///   - accessToken: whose request it is.
  /// - Returns: the response, whatever its status; a 401 is not acted on here.
  /// - Throws: `HTTPFailure` when there is none; `.invalidField` when the token cannot be sent.
  package func send(_ request: HTTPRequest, bearer accessToken: Secret) async throws(HTTPFailure) -> HTTPResponse {
    try await client.send(request, .bearer(accessToken), policy)
  }

  /// Sends a request with a token that is bound to a key, as ``send(_:bearer:)`` does with another.
  ///
  /// - Parameters:
  ///   - request: what to send, with its proof.
  ///   - accessToken: whose request it is.
  /// - Returns: the response, whatever its status.
  /// - Throws: `HTTPFailure` when there is none; `.invalidField` when the token or the proof cannot be sent.
  package func send(_ request: HTTPRequest, proven accessToken: Secret) async throws(HTTPFailure) -> HTTPResponse {
    guard request.proof != nil else { throw .invalidField }
    return try await client.send(request, .proven(accessToken), policy)
  }
}
