import TextCoding

/// The address of a mail server: `smtps` from the first byte on (RFC 8314, section 3.3), or `smtp`, which becomes TLS by
/// STARTTLS (RFC 3207).
///
/// Host and port obey the rules of ``TextCoding/ServerAddress``. There is no user, path or query in it.
package struct MailServerURL: Sendable, Hashable {
  /// The scheme.
  package enum Scheme: String, Sendable, CaseIterable {
    /// Over TLS.
    case smtps
    /// In the clear at first.
    case smtp
  }

  /// The scheme.
  package let scheme: Scheme
  /// The server's name or address in lower case; an IPv6 address in its brackets.
  package let host: String
  /// The server's port.
  package let port: Int

  /// Reads a URL.
  ///
  /// - Throws: `HTTPFailure.invalidURL`, whatever is wrong with it.
  package init(_ text: String) throws(HTTPFailure) {
    guard let parts = AddressParts(text), let scheme = Scheme(rawValue: parts.scheme), parts.user == nil,
      parts.rest.isEmpty, let server = parts.server, let port = parts.port
    else { throw .invalidURL }
    self.scheme = scheme
    host = server.host
    self.port = port
    isLoopback = server.isLoopback
  }

  /// Whether the server is on this machine, so that nothing leaves it.
  package let isLoopback: Bool

  /// Scheme, host and port: what may be logged.
  package var text: String { "\(scheme.rawValue)://\(host):\(port)" }
}

extension MailServerURL: CustomStringConvertible {
  /// All of it; nothing in it is secret.
  package var description: String { text }
}
