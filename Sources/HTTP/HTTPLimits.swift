/// How long a request may take, by what it is for.
package struct HTTPTimeouts: Sendable {
  /// Until a connection stands, its TLS handshake included: a reachable server needs a fraction of it.
  ///
  /// A mail server has as long for each of its answers.
  package var connect: Duration = .seconds(5)
  /// The whole of a call that a person waits for, waiting for its turn included.
  package var interactive: Duration = .seconds(10)
  /// The whole of a refresh, which gets longer: giving up early on it may cost the session.
  package var refresh: Duration = .seconds(20)

  /// With less than this left, a request that has waited for its turn is not begun: it could only be sent in vain.
  static let least = Duration.milliseconds(50)

  /// The standard ones.
  package init() {}
}

/// How much is sent and accepted.
package struct HTTPLimits: Sendable {
  /// The body of a request: far more than any credential or profile needs.
  package var requestBytes = 1 << 20
  /// The body of a response: a set of keys or a profile has a few KiB.
  package var responseBytes = 1 << 20
  /// All header and trailer lines of a response together, interim responses (1xx) included; common servers send less
  /// than 8 KiB.
  package var headerBytes = 64 << 10
  /// The number of those lines.
  package var headerLines = 128
  /// Requests under way at one server at a time, so connections too; as many as a browser opens, and two more.
  package var requestsPerServer = 8
  /// Requests that wait for their turn at one server; beyond it they would be late anyway.
  package var waitingPerServer = 4096

  /// The standard ones.
  package init() {}

  /// Connections that are kept open without a request, to all servers together.
  static let idleConnections = 64
}
