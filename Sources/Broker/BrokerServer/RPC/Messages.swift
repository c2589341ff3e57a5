import BrokerCore
import BrokerProtocol
import JSON
import JSONRPC
import SecretMemory

/// Splitting bytes into messages, and reading requests from them.
extension BrokerServer {
  /// The connection of a name; nil where it has ended.
  func rpcConnection(_ id: ClientID) -> RPCConnection? { connections[id] as? RPCConnection }

  // MARK: Tokens

  /// Answers the requests for cached tokens at the beginning of a read of a connection at rest, and sends the answers
  /// if nothing follows them.
  @inline(__always)
  func answerTokens(_ bytes: Span<UInt8>, _ connection: RPCConnection) -> (bytes: Int, isSent: Bool) {
    // One message at least is left for the general path, which knows what comes behind the last one of a turn.
    let turn = rpc.tokens.answer(
      bytes, connection.frames, for: connection.principal.permissions, as: auditNumber(of: connection),
      of: connection.id, most: turns.budget.messages - 1, behind: 0, at: clock.time)
    guard turn.messages > 0 else { return (0, false) }
    connection.share.noteAnswered(turn.waitingBytes, &clock)
    if turn.bytes == bytes.count, rpc.tokens.send(to: connection.stream) { return (turn.bytes, true) }
    turns.budget.count(turn.messages)
    queueTokens(connection)
    return (turn.bytes, false)
  }

  /// Answers the requests for cached tokens at the beginning of the rest of a read, behind the bytes that wait for the
  /// client.
  ///
  /// - Returns: how many bytes those requests have.
  private func answerTokensInTurn(_ bytes: Span<UInt8>, _ connection: RPCConnection) -> Int {
    guard !end.isDraining, connection.frames.isAtMessage(bytes) else { return 0 }
    let turn = rpc.tokens.answer(
      bytes, connection.frames, for: connection.principal.permissions, as: auditNumber(of: connection),
      of: connection.id, most: turns.budget.messages, behind: connection.output.count, at: clock.time)
    guard turn.messages > 0 else { return 0 }
    turns.budget.count(turn.messages)
    connection.frames.tookMessages()
    queueTokens(connection)
    cancel(&connection.timers.message)
    return turn.bytes
  }

  /// Lets the answers to requests for cached tokens wait before those that follow.
  private func queueTokens(_ connection: RPCConnection) {
    buffers.lend(to: &connection.output)
    connection.output.bytes.makeRoom(for: rpc.tokens.waitingCount)
    rpc.tokens.withWaiting { connection.output.bytes.append(copying: $0) }
    connection.output.holdsToken = true
    rpc.tokens.clear()
  }

  // MARK: Messages

  /// Receives complete messages, as many as the turn allows; the rest is the beginning of one that is not complete, is
  /// held up, or waits for the connection's next turn.
  func cutMessages(_ bytes: Span<UInt8>, _ connection: RPCConnection) -> Range<Int> {
    var offset = 0
    connection.hold(for: nil)
    let outputLimit = limits[.outputBytes]
    while !connection.isClosing {
      let hasMore = offset < bytes.count
      guard connection.output.count <= outputLimit else {
        if hasMore || connection.openBatch != nil { connection.hold(for: .output) }
        return offset..<bytes.count
      }
      // A batch that was begun is answered, also where nothing more is read.
      guard continueBatch(connection) else {
        connection.hold(for: isFull(connection) ? .answers : .turn)
        return offset..<bytes.count
      }
      if connection.isClosing || connection.ending == .told { break }
      if isFull(connection), hasMore {
        connection.hold(for: .answers)
        return offset..<bytes.count
      }
      let rest = bytes.extracting(offset..<bytes.count)
      let answered = answerTokensInTurn(rest, connection)
      let next = answered > 0 ? (consumed: answered, isWhole: true) : receiveNext(in: rest, connection)
      offset += next.consumed
      guard next.isWhole else { return offset..<bytes.count }
      let goesOn = answered > 0 ? turns.budget.messages > 0 : turns.budget.spend()
      if !goesOn, offset < bytes.count || connection.openBatch != nil {
        connection.hold(for: .turn)
        return offset..<bytes.count
      }
    }
    return bytes.count..<bytes.count
  }

  /// Receives the next message, whatever it is.
  ///
  /// - Returns: how many bytes are dealt with; and whether that is a message, or the end of it.
  private func receiveNext(in rest: Span<UInt8>, _ connection: RPCConnection) -> (consumed: Int, isWhole: Bool) {
    switch connection.frames.step(rest, isFinal: connection.ending == .inputEnded) {
    case .needsMore(let consumed): return (consumed, false)
    case .message(let range, let consumed):
      receive(rest.extracting(range), connection)
      cancel(&connection.timers.message)
      return (consumed, true)
    case .tooLong(let consumed):
      respond(refusal(of: .messageBytes), id: nil, connection)
      return (consumed, true)
    case .broken(let why):
      respond(BrokerError(.parseError, why), id: nil, connection)
      connection.end(.closing)
      return (0, true)
    }
  }

  /// Whether as many requests of a connection wait as may: the next ones are read when one of them is answered.
  func isFull(_ connection: RPCConnection) -> Bool { connection.inFlight.count >= limits[.requestsInFlight] }

  /// Takes one message in, whatever it is.
  private func receive(_ text: Span<UInt8>, _ connection: RPCConnection) {
    do throws(JSONError) {
      try rpc.tape.scan(text, limits: limits.json)
    } catch {
      return refuse(text, error, connection)
    }
    guard rpc.tape[0].kind != .array else { return receiveBatch(text, connection) }
    receive(Envelope(in: rpc.tape, of: text, idByteLimit: limits.idBytes), text, connection, batch: nil)
  }

  /// Answers a message that cannot be read: one that exceeds a limit, by the ids of its requests.
  private func refuse(_ text: Span<UInt8>, _ error: JSONError, _ connection: RPCConnection) {
    let refusal = refusal(of: error)
    guard error.reason.limit != nil else { return respond(refusal, id: nil, connection) }
    let message = RefusedMessage(text, idByteLimit: limits[.idBytes])
    guard message.isBatch, !message.ids.isEmpty, message.ids.count <= limits[.batchEntries] else {
      if message.isBatch { return respond(refusal, id: nil, connection) }
      for id in message.ids { respond(refusal, id: id.map { Array(copying: text.extracting($0)) }, connection) }
      return
    }
    let body = render(named(refusal))
    let responses = message.ids.map { range in
      let id = range.map { Array(copying: text.extracting($0)) } ?? Self.null
      return ResponseWriter.response(id: id.span, isError: true, body: body.span)
    }
    append(batch: responses, connection)
  }

  /// The error of a string that the scanner refuses; a refusal by a limit is counted.
  func refusal(of error: JSONError) -> BrokerError {
    if let limit = error.reason.limit { return refusal(of: limit) }
    let message = "The message is not valid JSON: \(error.reason.rawValue) (byte \(error.offset))."
    return BrokerError(.parseError, message)
  }

  // MARK: Requests

  /// Takes one request or notification in.
  func receive(_ envelope: Envelope, _ text: Span<UInt8>, _ connection: RPCConnection, batch: UInt64?) {
    if envelope.kind == .notification, notify(envelope, text, connection) { return }
    var id = envelope.kind == .notification ? nil : Self.null
    if let range = envelope.id { id = range.map { text[$0] } }
    let key = open(id, connection, batch)
    if envelope.isIDTooLong { return fail(key, refusal(of: .idBytes)) }
    if case .invalid(let why) = envelope.kind { return fail(key, BrokerError(.invalidRequest, why.sentence)) }
    // Answers that wait in unfinished batches are the connection's, too.
    guard connection.batchedBytes <= limits[.outputBytes] else { return fail(key, refusal(of: .outputBytes)) }
    let known = route(envelope, text)
    guard !end.isDraining || known?.isServedToTheEnd == true else { return fail(key, BrokerError(.shuttingDown)) }
    guard let route = known else {
      let method = rpc.tape.string(at: envelope.methodIndex, in: text)
      let sentence = Spelling.sentence(onUnknown: "method", method, among: Methods.all.map { $0.name })
      return fail(key, BrokerError(.methodNotFound, sentence))
    }
    guard route.isAnsweredAtOnce || hasRoom(connection) else { return fail(key, refusal(of: .waitingRequests)) }
    guard let parameters = envelope.parameters else {
      return run(route, JSONDocument.emptyObject.root, key, connection)
    }
    let byteCount = rpc.tape[parameters].range.count
    guard connection.inFlight.count(byteCount, atMost: limits[.parameterBytes]) else {
      return fail(key, refusal(of: .parameterBytes))
    }
    rpc.requests[key]?.parameterBytes = byteCount
    withDocument(text, at: parameters) { node in run(route, node, key, connection) }
  }

  private func run(_ route: Route, _ node: JSONNode, _ key: CallerID, _ connection: RPCConnection) {
    noteAsked(route.name, node, key)
    guard node.kind == .object else {
      return fail(key, BrokerError(JSONMismatch(at: .root, expected: "an object with named parameters")))
    }
    let (principal, isAdministrative) = (connection.principal, route.needsProof(node))
    // What no rule can name is refused for want of a proof.
    guard principal.isAdministrative || !isAdministrative else {
      connection.mayStop = end.isDraining
      return fail(key, denial(connection))
    }
    guard principal.allows(route.name) else { return fail(key, .notAllowed(route.name, by: principal.permissions)) }
    broker.assumeIsolated { $0.noteRequest(isAdministrative: isAdministrative) }
    do throws(BrokerError) {
      try route.run(self, node, Request(caller: key, connection: connection, method: route.name))
    } catch {
      fail(key, error)
    }
  }

  private func route(_ envelope: Envelope, _ text: Span<UInt8>) -> Route? {
    Routes.named(rpc.tape.string(at: envelope.methodIndex, in: text))
  }

  /// Lends the parameters as a document of their own, and wipes the copy: it may hold a password.
  private func withDocument(_ text: Span<UInt8>, at index: Int, _ body: (JSONNode) -> Void) {
    var copy = Array(copying: text.extracting(rpc.tape[index].range))
    body(JSONDocument(bytes: copy, ofContainerAt: index, on: rpc.tape).root)
    wipe(&copy)
  }

  /// Handles a notification that is no request; false for one that names a method, which runs without an answer.
  private func notify(_ envelope: Envelope, _ text: Span<UInt8>, _ connection: RPCConnection) -> Bool {
    guard text.matches("$/cancelRequest", envelope.method), let parameters = envelope.parameters else {
      return route(envelope, text) == nil
    }
    var id: [UInt8] = []
    withDocument(text, at: parameters) { node in id = node["id"].map { Array($0.text) } ?? [] }
    guard let key = connection.inFlight.keys.first(where: { rpc.requests[$0]?.id == id }) else { return true }
    // A login whose session is being saved is answered with that, so that no caller believes that it failed.
    if broker.assumeIsolated({ $0.cancel(key) }) { fail(key, BrokerError(.cancelled)) }
    return true
  }

  /// The id of an answer to a message without a readable id.
  static let null = Array("null".utf8)

  /// Begins a request, which is to be answered under an id; a notification has none.
  func open(_ id: [UInt8]?, _ connection: RPCConnection, _ batch: UInt64?) -> CallerID {
    connection.hasAsked = true
    let key = rpc.requests.nextName()
    rpc.requests[key] = PendingRequest(connection: connection, id: id, batch: batch)
    connection.inFlight.begin(key, id)
    _ = ledger.add(.waitingRequests, 1)
    if let batch { rpc.batches[batch]?.outstanding += 1 }
    return key
  }

  // MARK: Waiting requests

  /// Whether the request that a connection has begun may wait beside those of all connections.
  ///
  /// Past the limit each connection has an equal share, so that one with few requests is served whatever the others
  /// wait for: where it has less than its share, a request of the connection that has most makes room.
  private func hasRoom(_ connection: RPCConnection) -> Bool {
    guard rpc.requests.all.count > limits[.waitingRequests] else { return true }
    let share = max(limits[.waitingRequests] / max(connections.all.count, 1), 1)
    return connection.inFlight.count <= share && makeRoom(for: connection)
  }

  /// Refuses the newest request, of those that can be sent again, of the connection that has most.
  ///
  /// - Returns: false where no connection has more than the one at hand, or what it has must go on.
  private func makeRoom(for connection: RPCConnection) -> Bool {
    let all = connections.all.lazy.compactMap { ($0 as? RPCConnection)?.inFlight }
    guard let greatest = all.max(by: { $0.count < $1.count }), greatest.count > connection.inFlight.count,
      let key = broker.assumeIsolated({ broker in greatest.keys.filter { broker.maySendAgain($0) }.max() })
    else { return false }
    fail(key, refusal(of: .waitingRequests))
    return true
  }

  /// Forgets the work begun for a connection that ends.
  func forget(_ connection: RPCConnection) {
    for key in connection.inFlight.keys {
      guard let request = rpc.requests.remove(key) else { continue }
      _ = ledger.add(.waitingRequests, -1)
      broker.assumeIsolated { $0.detach(key) }
      if let batch = request.batch { discardBatch(batch) }
    }
    if let batch = connection.openBatch { discardBatch(batch.id) }
    connection.openBatch?.clear()
    connection.openBatch = nil
    if let proof = connection.proof, let process = connection.provableProcess {
      environment.proofs.discard(proof, from: process)
    }
    guard connection.hasAsked else { return }
    for forget in [environment.doors.forget, environment.sockets.forget] { forget(connection.id) }
    broker.assumeIsolated { [id = connection.id] broker in broker.leave(id) }
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
