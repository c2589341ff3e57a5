/// The reason why a request has no response.
///
/// A response with any status is no failure, 3xx, 4xx and 5xx included. ``requestMayHaveArrived`` decides about a
/// repetition. No case carries a URL, a field or a string of the server, so a failure may be logged.
package enum HTTPFailure: Error, Sendable, Equatable {
  /// The URL is malformed, or of a kind that is not called (see ``HTTPURL``).
  case invalidURL
  /// A field's name or value cannot be sent, or belongs to this module (see ``HTTPField``).
  case invalidField
  /// The body is larger than ``HTTPLimits/requestBytes``.
  case requestTooLarge
  /// The locked memory for secrets has no room for what is to be sent.
  case secretMemoryExhausted
  /// libcurl is not installed, or older than this module needs.
  case libraryMissing
  /// libcurl or the system refused what every request needs, such as memory or a descriptor.
  case setUpFailed
  /// Too many requests wait for their turn at this server, or the machine gives no thread to send them.
  case overloaded
  /// The client was closed.
  case closed
  /// The server's name does not resolve.
  case nameNotResolved
  /// Nothing answers at the server's address.
  case connectFailed
  /// The proxy cannot be found or reached, or refused to connect.
  case proxyFailed
  /// There is no trustworthy connection.
  case tlsFailed(TLSReason)
  /// The server's key is none of those it is known by. Nothing was sent to it.
  case pinMismatch
  /// Connecting, or the whole, took too long.
  case timedOut(sent: Bool)
  /// The connection ended before the response was complete.
  case connectionLost(sent: Bool)
  /// The response is larger than ``HTTPLimits`` allow.
  case responseTooLarge
  /// The reply is no HTTP response, or none of a mail server.
  case malformedResponse
  /// A mail server has refused what was asked of it; the mail was not taken.
  case mailRefused(MailRefusal)
  /// The caller's task was cancelled, or the client closed while the request was under way.
  case cancelled(sent: Bool)

  /// The reason why the connection is not secure.
  package enum TLSReason: Sendable, Equatable {
    /// No trusted authority vouches for the certificate.
    case untrusted
    /// The certificate's time is over or has not begun.
    case expired
    /// The certificate is another host's.
    case hostMismatch
    /// The server speaks no version that is allowed.
    case protocolVersion
    /// The server's answer is none of TLS: it is spoken with in the clear at this port.
    case plain
    /// The trusted authorities of a source cannot be read, which may be why the certificate is not trusted.
    case caFile(AuthoritySource)
    /// Anything else.
    case other
  }

  /// Whether any byte of the request may have reached the server: if not, it has certainly not been acted on.
  package var requestMayHaveArrived: Bool {
    switch self {
    case .timedOut(let sent), .connectionLost(let sent), .cancelled(let sent): sent
    case .responseTooLarge, .malformedResponse: true
    case .invalidURL, .invalidField, .requestTooLarge, .secretMemoryExhausted, .libraryMissing, .setUpFailed,
      .overloaded, .closed, .nameNotResolved, .connectFailed, .proxyFailed, .tlsFailed, .pinMismatch, .mailRefused:
      false
    }
  }
}

extension HTTPFailure: CustomStringConvertible {
  /// One plain phrase for a log line, without any address.
  package var description: String {
    switch self {
    case .invalidURL: "the URL is malformed, or its scheme is not supported"
    case .invalidField: "a header field of the request is malformed"
    case .requestTooLarge: "the request is too large"
    case .secretMemoryExhausted: "the locked memory is full"
    case .libraryMissing: "libcurl 7.87 or later is not installed (Debian: apt-get install libcurl4)"
    case .setUpFailed: "the system refused the resources for a request"
    case .overloaded: "too many requests wait for this server, or there is no thread to send them"
    case .closed: "the client is closed"
    case .nameNotResolved: "the server's name does not resolve"
    case .connectFailed: "the server cannot be reached"
    case .proxyFailed: "the proxy cannot be used"
    case .tlsFailed(let reason): "TLS failed: \(reason)"
    case .pinMismatch: "the server's key matches none of its pins"
    case .timedOut(let sent): sent ? "no response in time" : "no connection in time"
    case .connectionLost(let sent): sent ? "the connection was lost" : "the connection was lost before the request"
    case .responseTooLarge: "the response is too large"
    case .malformedResponse: "the response is malformed"
    case .mailRefused(let refusal): refusal.description
    case .cancelled: "cancelled"
    }
  }
}

extension HTTPFailure {
  /// The failure's name in a line of the log.
  package var name: String {
    switch self {
    case .invalidURL: "invalidURL"
    case .invalidField: "invalidField"
    case .requestTooLarge: "requestTooLarge"
    case .secretMemoryExhausted: "secretMemoryExhausted"
    case .libraryMissing: "libraryMissing"
    case .setUpFailed: "setUpFailed"
    case .overloaded: "overloaded"
    case .closed: "closed"
    case .nameNotResolved: "nameNotResolved"
    case .connectFailed: "connectFailed"
    case .proxyFailed: "proxyFailed"
    case .tlsFailed: "tlsFailed"
    case .pinMismatch: "pinMismatch"
    case .timedOut: "timedOut"
    case .connectionLost: "connectionLost"
    case .responseTooLarge: "responseTooLarge"
    case .malformedResponse: "malformedResponse"
    case .mailRefused: "mailRefused"
    case .cancelled: "cancelled"
    }
  }
}

extension HTTPFailure.TLSReason: CustomStringConvertible {
  /// One plain phrase.
  package var description: String {
    switch self {
    case .untrusted: "the certificate is signed by an untrusted authority"
    case .expired: "the certificate has expired or is not valid yet"
    case .hostMismatch: "the certificate is for another host"
    case .protocolVersion: "TLS 1.2 or later is not offered"
    case .plain: "the port does not speak TLS"
    case .caFile(.system): "the system's trusted authorities cannot be read"
    case .caFile(let source): "the trusted authorities of \(source.rawValue) cannot be read"
    case .other: "the handshake failed"
    }
  }
}
