import TextCoding

/// The address of a mail server: `smtps` from the first byte on (RFC 8314, section 3.3), or `smtp`, which becomes TLS by
/// STARTTLS (RFC 3207).
///
/// Host and port obey the rules of ``TextCoding/ServerAddress``. There is no user, path or query in it.
package struct MailServerURL: Sendable, Hashable {
  /// How the server is spoken to.
  package enum Scheme: String, Sendable, CaseIterable {
    /// Over TLS.
    case smtps
    /// In the clear at first.
    case smtp

    /// The port for the submission of mails (RFC 8314, section 3.3; RFC 6409, section 3.1).
    fileprivate var port: Int { self == .smtps ? 465 : 587 }
  }

  /// How the server is spoken to.
  package let scheme: Scheme
  /// The server's name or address in lower case; an IPv6 address in its brackets.
  package let host: String
  /// The server's port.
  package let port: Int

  /// Reads a URL.
  ///
  /// - Throws: `HTTPFailure.invalidURL`, whatever is wrong with it.
  package init(_ text: String) throws(HTTPFailure) {
    let found = Scheme.allCases.first { text.lowercased().hasPrefix($0.rawValue + "://") }
    guard let scheme = found else { throw .invalidURL }
    let place = text.dropFirst(scheme.rawValue.utf8.count + "://".utf8.count)
    guard let server = ServerAddress(place) else { throw .invalidURL }
    self.scheme = scheme
    host = server.host
    port = server.port ?? scheme.port
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
