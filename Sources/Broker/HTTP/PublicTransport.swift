/// Sends requests that carry no access token: logins and refreshes.
///
/// It is a type of its own, and the only one that such code gets, so that getting a token can never depend on having one:
/// nothing leads from here to an ``AuthenticatedTransport``.
package struct PublicTransport: Sendable {
  private let client: HTTPClient
  private let policy: TLSPolicy

  /// A transport for one server's policy.
  package init(_ client: HTTPClient, policy: TLSPolicy = TLSPolicy()) {
    self.client = client
    self.policy = policy
  }

  /// Sends a request and waits for its response; cancelling the task gives it up.
  ///
  /// - Parameters:
  ///   - request: what to send.
  ///   - credentials: the client's own, where the provider wants them.
  /// - Returns: the response, whatever its status.
  /// - Throws: `HTTPFailure` when there is none.
  package func send(
    _ request: HTTPRequest, as credentials: ClientCredentials? = nil
  ) async throws(HTTPFailure) -> HTTPResponse {
    try await client.send(request, credentials.map { .basic($0) } ?? .none, policy)
  }
}
