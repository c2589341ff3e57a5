/// Hands mails over to a mail server, each on a connection of its own.
///
/// A server that has taken a mail may keep the client's thread waiting for its farewell, for as long as a connection may
/// take to be made: so the client is one that sends nothing else.
package struct MailTransport: Sendable {
  private let client: HTTPClient
  private let policy: TLSPolicy

  /// A transport for one server's policy.
  package init(_ client: HTTPClient, policy: TLSPolicy = TLSPolicy()) {
    self.client = client
    self.policy = policy
  }

  /// Hands a mail over; cancelling the task gives it up.
  ///
  /// - Throws: `HTTPFailure` where the server has not said that it has the mail. With `requestMayHaveArrived` it may have it
  ///   all the same.
  package func send(_ mail: Mail) async throws(HTTPFailure) {
    try await client.send(mail, policy)
  }
}
