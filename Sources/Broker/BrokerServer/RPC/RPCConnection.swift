import BrokerCore
import BrokerProtocol
import JSONRPC

/// A connection on which JSON-RPC is spoken, as lines or with headers.
final class RPCConnection: Connection {
  /// Cuts messages out of the read bytes.
  var frames: FrameReader
  /// Requests that wait for their answer.
  var inFlight = InFlight()
  /// The batch of which some requests wait for the connection's next turn.
  var openBatch: OpenBatch?
  /// How many bytes of answers and events wait in batches that are not complete.
  var batchedBytes = 0
  /// Its subscriptions.
  var subscriptions = Subscriptions()
  /// The limit on the different token targets that it asks for.
  var targets = TargetLimit()
  /// Its client as the audit names it; nil until there is an audit, and where that is to be found out again.
  var audited: AuditedConnection? { didSet { auditNumber = audited?.number ?? -1 } }
  /// The number of that client, apart: each request for a token needs it.
  private(set) var auditNumber = -1
  /// Parameters that were ignored and already named in the log.
  var ignoredNames: Set<String> = []
  /// Whether it has ever asked for something that the cache does not answer: else the broker never heard of it.
  var hasAsked = false
  /// The file that its client was asked for, and has not been judged by.
  var proof: StateProof?
  /// Whether its client wants to end a broker that drains, and is to prove first that it may.
  var mayStop = false

  /// A connection without a request yet.
  init(
    _ id: ClientID, _ principal: Principal, _ stream: any ClientStream, _ entrance: Entrance,
    _ announced: ReadyConnections, messageByteLimit: Int
  ) {
    frames = FrameReader(messageByteLimit: messageByteLimit)
    super.init(id, principal, stream, entrance, announced)
  }

  override func answerAtOnce(_ bytes: Span<UInt8>, _ server: isolated BrokerServer) -> (bytes: Int, isSent: Bool) {
    server.answerTokens(bytes, self)
  }

  override func take(_ bytes: Span<UInt8>, _ server: isolated BrokerServer) -> Range<Int> {
    server.cutMessages(bytes, self)
  }

  override func addMore(_ server: isolated BrokerServer) {
    server.reportLosses(self)
    server.continueReplays(self)
  }

  override func refuse(_ limit: Limit, _ server: isolated BrokerServer) {
    server.respond(server.ledger.error(of: limit), id: nil, self)
  }

  override func endAnswers(_ server: isolated BrokerServer) {
    for key in inFlight.keys { server.fail(key, BrokerError(.shuttingDown)) }
  }

  override func forget(_ server: isolated BrokerServer) { server.forget(self) }

  override func isAtMessage(_ bytes: Span<UInt8>) -> Bool {
    openBatch == nil && subscriptions.areTold && frames.isAtMessage(bytes)
  }

  override var isAnswered: Bool { inFlight.isEmpty && openBatch == nil }

  override func isTold(whileDraining isDraining: Bool) -> Bool { isDraining || subscriptions.replays.isEmpty }

  override var mayEndServer: Bool { mayStop }

  override var keptBytes: Int { batchedBytes + (openBatch?.byteCount ?? 0) + inFlight.byteCount }

  /// The writer of answers; it writes lines until the client has shown its framing.
  var writer: ResponseWriter { ResponseWriter(framing: frames.framing ?? .lines) }

  /// The process that can give a proof by its number; nil for one in another PID namespace, which the kernel calls 0.
  var provableProcess: Int32? { principal.process.flatMap { $0 > 0 ? $0 : nil } }
}

/// The requests of a connection that wait for their answer.
struct InFlight {
  /// Their names.
  private(set) var keys: Set<CallerID> = []
  /// How many bytes their parameters have together.
  private(set) var parameterBytes = 0
  private var idBytes = 0

  /// How many there are.
  var count: Int { keys.count }
  /// Whether there is none.
  var isEmpty: Bool { keys.isEmpty }
  /// How much memory they take.
  var byteCount: Int { parameterBytes + idBytes }

  /// Notes that a request waits.
  mutating func begin(_ key: CallerID, _ id: [UInt8]?) {
    keys.insert(key)
    idBytes += id?.count ?? 0
  }

  /// Counts the parameters of a request; those of all waiting requests together may have so many bytes.
  ///
  /// The only one that waits may have as many as a message can: else a legal request could never be sent.
  mutating func count(_ bytes: Int, atMost most: Int) -> Bool {
    guard parameterBytes == 0 || bytes <= most - parameterBytes else { return false }
    parameterBytes += bytes
    return true
  }

  /// Notes that a request waits no longer; a connection that waits for nothing keeps no memory for that.
  mutating func end(_ key: CallerID, _ request: PendingRequest) {
    keys.remove(key)
    if keys.isEmpty { keys = [] }
    parameterBytes -= request.parameterBytes
    idBytes -= request.id?.count ?? 0
  }
}

/// A request that waits for its answer.
struct PendingRequest {
  /// The connection.
  let connection: RPCConnection
  /// The text of the id, to be echoed byte for byte; nil for a notification, which gets no answer.
  let id: [UInt8]?
  /// The batch that the answer belongs to.
  let batch: UInt64?
  /// How many bytes its parameters have.
  var parameterBytes = 0
  /// The method, once it is known.
  var method: String?
  /// The question, where it is for the token of an address.
  var address: AddressQuestion?
  /// The parameters that the audit names.
  var asked: AuditedQuestion?
}
