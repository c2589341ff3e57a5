package import JSONRPC

/// What one peer can ask of the broker.
package struct LimitsConfiguration: Sendable, Equatable {
  /// How many bytes a message may have.
  package var maxMessageBytes: Int
  /// How deep a message may be nested.
  package var maxNesting: Int
  /// How many entries a batch may have; each counts as in flight.
  package var maxBatchEntries: Int
  /// How many requests of one connection may wait for their answer.
  package var maxRequestsInFlight: Int
  /// How many subscriptions one connection may have.
  package var maxSubscriptionsPerConnection: Int
  /// How many connections may be open; the descriptor limit may allow fewer.
  package var maxConnections: Int
  /// How many bytes an id may have, quotes included.
  package var maxIDBytes: Int
  /// How many bytes of answers and events are kept for a connection that does not read them.
  package var maxOutputBufferBytes: Int
  /// How long a connection with a full buffer may read nothing before it is closed.
  package var stalledOutput: Duration

  // Each lower end leaves the protocol usable, each upper end keeps one peer from using up the machine.

  /// 1 MiB is a thousand times the usual message; 1 KiB still holds each request that carries no token.
  private static let messageBytes = WholeNumberSetting("maxMessageBytes", 1024...67_108_864, standard: 1_048_576)
  /// The protocol itself needs five levels.
  private static let nesting = WholeNumberSetting("maxNesting", 8...512, standard: 64)
  /// 1 is the same as no batches.
  private static let batchEntries = WholeNumberSetting("maxBatchEntries", 1...4096, standard: 64)
  /// Each one in flight keeps its id and its place in a queue.
  private static let requestsInFlight = WholeNumberSetting("maxRequestsInFlight", 1...4096, standard: 64)
  /// One subscription with a filter serves most clients.
  private static let subscriptions = WholeNumberSetting("maxSubscriptionsPerConnection", 1...1024, standard: 32)
  /// The upper end is above what a machine has processes for.
  private static let connections = WholeNumberSetting("maxConnections", 1...100_000, standard: 10000)
  /// A UUID in quotes has 38 bytes.
  private static let idBytes = WholeNumberSetting("maxIdBytes", 38...4096, standard: 128)
  /// 4 MiB hold ten thousand events; 64 KiB is the size of a pipe.
  private static let outputBufferBytes = WholeNumberSetting(
    "maxOutputBufferBytes", 65536...268_435_456, standard: 4_194_304)
  /// Shorter than a second would cut off whoever pages in.
  private static let stalledOutputTime = DurationSetting("stalledOutputSeconds", 1...3600, standard: 30)

  /// The defaults.
  init() {
    maxMessageBytes = Self.messageBytes.standard
    maxNesting = Self.nesting.standard
    maxBatchEntries = Self.batchEntries.standard
    maxRequestsInFlight = Self.requestsInFlight.standard
    maxSubscriptionsPerConnection = Self.subscriptions.standard
    maxConnections = Self.connections.standard
    maxIDBytes = Self.idBytes.standard
    maxOutputBufferBytes = Self.outputBufferBytes.standard
    stalledOutput = .seconds(Self.stalledOutputTime.standard)
  }

  /// Reads the section, with the default of each setting that is absent.
  ///
  /// - Throws: ``ConfigurationError`` at the first wrong value or unknown key.
  init(_ section: inout ConfigurationSection) throws(ConfigurationError) {
    maxMessageBytes = try section.read(Self.messageBytes)
    maxNesting = try section.read(Self.nesting)
    maxBatchEntries = try section.read(Self.batchEntries)
    maxRequestsInFlight = try section.read(Self.requestsInFlight)
    maxSubscriptionsPerConnection = try section.read(Self.subscriptions)
    maxConnections = try section.read(Self.connections)
    maxIDBytes = try section.read(Self.idBytes)
    maxOutputBufferBytes = try section.read(Self.outputBufferBytes)
    stalledOutput = try section.read(Self.stalledOutputTime)
    try section.refuseUnknownKeys()
  }

  /// The limits that the scanner keeps.
  package var json: JSONLimits { JSONLimits(depth: maxNesting, byteCount: maxMessageBytes) }
}
