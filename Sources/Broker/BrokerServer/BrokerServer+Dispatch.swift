import BrokerCore
import BrokerProtocol
import JSON
import JSONRPC
import Logging
import SecretMemory

/// How messages become requests.
extension BrokerServer {
  /// Takes one message in, whatever it is.
  func receive(_ text: Span<UInt8>, _ connection: Connection) {
    do throws(JSONError) {
      try tape.scan(text, limits: limits.json)
    } catch {
      return refuse(text, error, connection)
    }
    guard tape[0].kind != .array else { return receiveBatch(text, connection) }
    receive(Envelope(in: tape, of: text, idByteLimit: limits.idBytes), text, connection, batch: nil)
  }

  /// Answers a message that cannot be read: one that exceeds a limit, by the ids of its requests.
  private func refuse(_ text: Span<UInt8>, _ error: JSONError, _ connection: Connection) {
    let refusal = refusal(of: error)
    guard error.reason.limit != nil else { return respond(refusal, id: nil, connection) }
    let message = RefusedMessage(text, idByteLimit: limits[.idBytes])
    guard message.isBatch, !message.ids.isEmpty, message.ids.count <= limits[.batchEntries] else {
      if message.isBatch { return respond(refusal, id: nil, connection) }
      for id in message.ids { respond(refusal, id: id.map { Array(copying: text.extracting($0)) }, connection) }
      return
    }
    respond(refusal, ids: message.ids.map { id in id.map { Array(copying: text.extracting($0)) } }, connection)
  }

  /// The error of a string that the scanner refuses; where that is for a limit, the refusal is counted.
  func refusal(of error: JSONError) -> BrokerError {
    if let limit = error.reason.limit { return refusal(of: limit) }
    let message = "The message is not valid JSON: \(error.reason.rawValue) (byte \(error.offset))."
    return BrokerError(.parseError, message)
  }

  /// Takes one request or notification in.
  func receive(_ envelope: Envelope, _ text: Span<UInt8>, _ connection: Connection, batch: UInt64?) {
    if envelope.kind == .notification, notify(envelope, text, connection) { return }
    let key = open(envelope, text, connection, batch)
    if envelope.isIDTooLong { return fail(key, refusal(of: .idBytes)) }
    if case .invalid(let why) = envelope.kind { return fail(key, BrokerError(.invalidRequest, why.sentence)) }
    // Answers that wait in unfinished batches are the connection's, too.
    guard connection.batchedBytes <= limits[.outputBytes] else { return fail(key, refusal(of: .outputBytes)) }
    let known = route(envelope, text)
    guard !isDraining || known?.isServedToTheEnd == true else { return fail(key, BrokerError(.shuttingDown)) }
    guard let route = known else {
      let method = tape.string(at: envelope.methodIndex, in: text)
      let sentence = Spelling.sentence(onUnknown: "method", method, among: Methods.all.map { $0.name })
      return fail(key, BrokerError(.methodNotFound, sentence))
    }
    guard route.isAnsweredAtOnce || hasRoom(connection) else { return fail(key, refusal(of: .waitingRequests)) }
    guard let parameters = envelope.parameters else {
      return run(route, JSONDocument.emptyObject.root, key, connection)
    }
    guard count(parameters, of: key, connection) else {
      return fail(key, refusal(of: .parameterBytes))
    }
    withDocument(text, at: parameters) { node in run(route, node, key, connection) }
  }

  private func run(_ route: Route, _ node: JSONNode, _ key: CallerID, _ connection: Connection) {
    requests[key]?.method = route.name
    guard node.kind == .object else {
      return fail(key, BrokerError(JSONMismatch(at: .root, expected: "an object with named parameters")))
    }
    let isAdministrative = route.needsProof(node)
    guard connection.isAdministrative || !isAdministrative else {
      connection.mayStop = isDraining
      return fail(key, denial(connection))
    }
    broker.assumeIsolated { $0.noteRequest(isAdministrative: isAdministrative) }
    do throws(BrokerError) {
      try route.run(self, node, Request(caller: key, client: connection.id))
    } catch {
      fail(key, error)
    }
  }

  /// Counts a request's parameters among those of its connection that wait; false where there would be too many.
  ///
  /// The only one that waits may have as many as a message can: else what is legal alone could never be asked.
  private func count(_ parameters: Int, of key: CallerID, _ connection: Connection) -> Bool {
    let byteCount = tape[parameters].range.count
    let isAlone = connection.parameterBytes == 0
    guard isAlone || byteCount <= limits[.parameterBytes] - connection.parameterBytes else { return false }
    connection.parameterBytes += byteCount
    requests[key]?.parameterBytes = byteCount
    return true
  }

  private func route(_ envelope: Envelope, _ text: Span<UInt8>) -> Route? {
    Routes.named(tape.string(at: envelope.methodIndex, in: text))
  }

  /// Lends the parameters as a document of their own, and wipes the copy: it may hold a password.
  private func withDocument(_ text: Span<UInt8>, at index: Int, _ body: (JSONNode) -> Void) {
    var copy = Array(copying: text.extracting(tape[index].range))
    body(JSONDocument(bytes: copy, ofContainerAt: index, on: tape).root)
    wipe(&copy)
  }

  /// Obeys a notification that is no request; false for one that names a method, which runs without an answer.
  private func notify(_ envelope: Envelope, _ text: Span<UInt8>, _ connection: Connection) -> Bool {
    guard text.matches("$/cancelRequest", envelope.method), let parameters = envelope.parameters else {
      return route(envelope, text) == nil
    }
    var id: [UInt8] = []
    withDocument(text, at: parameters) { node in id = node["id"].map { Array($0.text) } ?? [] }
    guard let key = connection.inFlight.first(where: { requests[$0]?.id == id }) else { return true }
    // A login whose session is being saved is answered with that, so that no caller believes that it failed.
    if broker.assumeIsolated({ $0.cancel(key) }) { fail(key, BrokerError(.cancelled)) }
    return true
  }

  private func open(
    _ envelope: Envelope, _ text: Span<UInt8>, _ connection: Connection, _ batch: UInt64?
  ) -> CallerID {
    var id: [UInt8]? = envelope.kind == .notification ? nil : Self.null
    if let range = envelope.id { id = range.map { text[$0] } }
    return open(id, connection, batch)
  }

  /// The id of an answer to what has none that could be read.
  static let null = Array("null".utf8)

  /// Begins a request that is to be answered under an id; a notification has none.
  func open(_ id: [UInt8]?, _ connection: Connection, _ batch: UInt64?) -> CallerID {
    requestCount += 1
    connection.hasAsked = true
    let key = CallerID(requestCount)
    requests[key] = PendingRequest(client: connection.id, id: id, batch: batch)
    connection.began(key)
    connection.idBytes += id?.count ?? 0
    _ = ledger.add(.waitingRequests, 1)
    if let batch { batches[batch]?.outstanding += 1 }
    return key
  }
}

extension JSONError.Reason {
  /// The limit that the text exceeds; nil where it breaks the grammar.
  fileprivate var limit: Limit? {
    switch self {
    case .tooDeep: .nesting
    case .tooLong: .messageBytes
    case .tooManyMembers: .members
    case .tooManyElements: .elements
    case .tooManyValues: .values
    case .stringTooLong: .stringBytes
    case .numberTooLong: .numberBytes
    default: nil
    }
  }
}
