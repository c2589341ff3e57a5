import BrokerCore
import BrokerProtocol
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
      let message = "The message is not valid JSON: \(error.reason.rawValue) (byte \(error.offset))."
      return respond(BrokerError(.parseError, message), id: nil, connection)
    }
    if tape.entries[0].kind == .array {
      receiveBatch(text, connection)
    } else {
      let envelope = Envelope(in: tape, of: text, idByteLimit: limits.idBytes)
      if answerFromCache(envelope, text, connection) { return }
      receive(envelope, text, connection, batch: nil)
    }
  }

  /// The hot path: a token that is cached is answered without a copy, a task, or an allocation.
  ///
  /// Whatever is out of the ordinary is left to the general path.
  private func answerFromCache(_ envelope: Envelope, _ text: Span<UInt8>, _ connection: Connection) -> Bool {
    guard envelope.kind == .request, let id = envelope.id, !isDraining,
      text.matches("getAccessToken", envelope.method),
      let question = CachedQuestion(envelope, tape, text)
    else { return false }
    let profile = text.extracting(question.profile)
    guard
      let answer = answers.answer(
        profile: profile, minValidity: question.minValidity, wall: turnTime, uptime: turnUptime)
    else { return false }
    let writer = connection.writer
    answer.withBytes { result in
      writer.appendResult(result, id: text.extracting(id), to: &connection.output.bytes)
    }
    return true
  }

  private func receiveBatch(_ text: Span<UInt8>, _ connection: Connection) {
    var entries: [Int] = []
    var index = 1
    while index < Int(tape.entries[0].next) {
      entries.append(index)
      index = Int(tape.entries[index].next)
    }
    guard !entries.isEmpty, entries.count <= limits.batchEntries else {
      let message = entries.isEmpty ? "A batch must not be empty." : "A batch may have \(limits.batchEntries) entries."
      return respond(BrokerError(.invalidRequest, message), id: nil, connection)
    }
    batchCount += 1
    let batch = batchCount
    batches[batch] = PendingBatch(client: connection.id, outstanding: 0)
    let envelopes = entries.map { Envelope(in: tape, at: $0, of: text, idByteLimit: limits.idBytes) }
    for envelope in envelopes { receive(envelope, text, connection, batch: batch) }
    batches[batch]?.isRead = true
    finishBatchIfComplete(batch)
  }

  /// Takes one request or notification in.
  private func receive(_ envelope: Envelope, _ text: Span<UInt8>, _ connection: Connection, batch: UInt64?) {
    if envelope.kind == .notification, notify(envelope, text, connection) { return }
    let key = open(envelope, text, connection, batch)
    if case .invalid(let why) = envelope.kind { return fail(key, BrokerError(.invalidRequest, why)) }
    guard connection.inFlight.count <= limits.requestsInFlight else { return fail(key, BrokerError(.overloaded)) }
    guard !isDraining else { return fail(key, BrokerError(.shuttingDown)) }
    let name = methodName(envelope, text)
    guard let route = Routes.byName[name] else {
      return fail(key, BrokerError(.methodNotFound, "There is no method of this name in this version."))
    }
    guard let parameters = envelope.parameters else {
      return run(route, JSONDocument.emptyObject.root, key, connection)
    }
    withDocument(text, at: parameters) { node in run(route, node, key, connection) }
  }

  private func run(_ route: Route, _ node: JSONNode, _ key: RequestKey, _ connection: Connection) {
    requests[key]?.method = route.name
    guard node.kind == .object else {
      return fail(key, BrokerError(JSONMismatch(at: .root, expected: "an object: parameters are given by name")))
    }
    guard connection.isAdministrative || !route.needsProof(node) else { return fail(key, denial(connection)) }
    do throws(BrokerError) {
      try route.run(self, node, Request(key: key, client: connection.id))
    } catch {
      fail(key, error)
    }
  }

  private func methodName(_ envelope: Envelope, _ text: Span<UInt8>) -> String {
    tape.string(at: envelope.methodIndex, in: text)
  }

  /// Lends the parameters as a document of their own, and wipes the copy: it may hold a password.
  private func withDocument(_ text: Span<UInt8>, at index: Int, _ body: (JSONNode) -> Void) {
    let range = tape.entries[index].range
    var copy: [UInt8] = []
    copy.reserveCapacity(range.count)
    for position in range { copy.append(text[position]) }
    if let document = try? JSONDocument(parsing: copy, limits: limits.json) { body(document.root) }
    wipe(&copy)
  }

  /// Obeys a notification that is no request; false for one that names a method, which runs without an answer.
  private func notify(_ envelope: Envelope, _ text: Span<UInt8>, _ connection: Connection) -> Bool {
    guard text.matches("$/cancelRequest", envelope.method), let parameters = envelope.parameters else {
      return Routes.byName[methodName(envelope, text)] == nil
    }
    var id: [UInt8] = []
    withDocument(text, at: parameters) { node in id = node["id"].map { Array($0.text) } ?? [] }
    guard let key = connection.inFlight.first(where: { requests[$0]?.id == id }) else { return true }
    if let login = requests[key]?.login, !broker.assumeIsolated({ $0.takeBack(login) }) {
      // Its session is being saved: it is answered with that, so that nobody takes it for undone.
      return true
    }
    fail(key, BrokerError(.cancelled))
    return true
  }

  private func open(
    _ envelope: Envelope, _ text: Span<UInt8>, _ connection: Connection, _ batch: UInt64?
  ) -> RequestKey {
    requestCount += 1
    let key = RequestKey(number: requestCount)
    var id: [UInt8]? = envelope.kind == .notification ? nil : Array("null".utf8)
    if let range = envelope.id { id = range.map { text[$0] } }
    requests[key] = PendingRequest(client: connection.id, id: id, batch: batch)
    connection.inFlight.insert(key)
    if let batch { batches[batch]?.outstanding += 1 }
    return key
  }
}

extension JSONDocument {
  /// What absent parameters mean.
  fileprivate static let emptyObject: JSONDocument = {
    guard let document = try? JSONDocument(parsing: Array("{}".utf8)) else {
      preconditionFailure("{} is valid JSON")
    }
    return document
  }()
}
