package import JSONRPC

/// The bounds that every connection must keep; each can be configured.
package struct ServerLimits: Sendable, Equatable {
  /// How long a message may be, and how deep it may be nested.
  package var json: JSONLimits
  /// How many entries a batch may have; each counts as a request in flight.
  package var batchEntries: Int
  /// How many requests of a connection may wait for their answer.
  package var requestsInFlight: Int
  /// How many bytes of parameters the requests of a connection that wait may have together; a single one may have more.
  ///
  /// Eight of the longest refresh tokens: a client's usual requests have some hundred bytes.
  package var parameterBytes = 512 << 10
  /// How many subscriptions a connection may have.
  package var subscriptions: Int
  /// How many connections may be open.
  package var connections: Int
  /// How many bytes an id may have.
  package var idBytes: Int
  /// How many bytes may wait for a client that does not read, before events are dropped for it.
  package var outputBytes: Int
  /// How long a client may read nothing before its connection is closed.
  package var stalledOutput: Duration

  /// The bounds of the contract.
  package init(
    json: JSONLimits = .standard, batchEntries: Int = 64, requestsInFlight: Int = 64, subscriptions: Int = 32,
    connections: Int = 10_000, idBytes: Int = Envelope.idByteLimit, outputBytes: Int = 4 << 20,
    stalledOutput: Duration = .seconds(30)
  ) {
    self.json = json
    self.batchEntries = batchEntries
    self.requestsInFlight = requestsInFlight
    self.subscriptions = subscriptions
    self.connections = connections
    self.idBytes = idBytes
    self.outputBytes = outputBytes
    self.stalledOutput = stalledOutput
  }
}
