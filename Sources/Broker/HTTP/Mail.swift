package import SecretMemory

/// One mail on its way to a mail server (RFC 5321), which is to pass it on.
package struct Mail: Sendable {
  /// The credentials for a server that wants them (RFC 4954).
  package struct Login: Sendable {
    /// The user's name.
    let user: String
    /// The user's password.
    let password: Secret

    /// A login.
    package init(user: String, password: Secret) {
      self.user = user
      self.password = password
    }
  }

  /// The server that takes the mail.
  package var server: MailServerURL
  /// Whether the connection must be secured by STARTTLS before anything else; of no matter for `smtps`, which is secure.
  package var startsTLS: Bool
  /// The sender's address, to which failed deliveries are reported.
  package var sender: MailAddress
  /// The recipient.
  package var recipient: MailAddress
  /// Its header and body (RFC 5322), with CRLF at each line's end; handled as a secret.
  package var content: Secret
  /// The credentials; nil for none.
  package var login: Login?

  /// A mail; in the clear it goes to this very machine only, and even there not where a policy for TLS is given.
  ///
  /// - Parameters:
  ///   - server: the server that takes the mail.
  ///   - sender: where messages about a failed delivery go.
  ///   - recipient: who gets it.
  ///   - content: header and body, with CRLF at each line's end.
  ///   - login: who sends it.
  ///   - startsTLS: whether STARTTLS is asked for on this machine as well.
  package init(
    via server: MailServerURL, from sender: MailAddress, to recipient: MailAddress, content: Secret,
    login: Login? = nil, startsTLS: Bool = false
  ) {
    self.server = server
    self.sender = sender
    self.recipient = recipient
    self.content = content
    self.login = login
    self.startsTLS = server.scheme == .smtp && (startsTLS || !server.isLoopback)
  }
}
