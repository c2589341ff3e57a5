/// The time limits of a request, by its purpose.
///
/// The time of a request counts from when it is given to a connection. Until then it is not sent: it waits for its
/// turn, and for a connection, and has all its time still to come.
package struct HTTPTimeouts: Sendable {
  /// Until a connection stands, its TLS handshake included: a reachable server needs a fraction of it.
  ///
  /// A mail server has as long for each of its answers.
  package var connect: Duration = .seconds(5)
  /// The answer to a call that a person waits for.
  package var interactive: Duration = .seconds(10)
  /// The answer to a refresh, which gets longer: giving up early on it may cost the session.
  package var refresh: Duration = .seconds(20)
  /// For the answer to a request that spends something, from its last byte: once it has begun, it is read on beyond
  /// these times.
  package var stillness: Duration = .seconds(10)
  /// Such an answer as a whole, however it trickles in.
  package var longestReply: Duration = .seconds(60)

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
  /// Requests that only read under way at one server at a time; as many as a browser opens, and two more.
  package var requestsPerServer = 8
  /// Requests that only read and wait for their turn at one server; beyond it they would be late anyway.
  package var waitingPerServer = 4096
  /// Requests that spend something under way at a time, at all servers together: each has a connection of its own.
  package var flights = 256
  /// The most requests to one server that have no connection yet: each may cost a thread that asks for an address.
  package var connectingPerServer = 32
  /// Requests that spend something and wait unsent: more than the profiles of a large fleet.
  package var waitingFlights = 16_384

  /// The standard ones.
  package init() {}

  /// The limits of requests that clients have sent: as many under way as there can be connections to doors, since
  /// events and models are waited for by many at a time.
  package static var forClients: HTTPLimits {
    var limits = HTTPLimits()
    (limits.requestsPerServer, limits.flights, limits.connectingPerServer) = (4096, 4096, 256)
    return limits
  }

  /// Connections that are kept open without a request, to all servers together.
  static let idleConnections = 64
}
