import BrokerCore
import BrokerProtocol
import JSON
import JSONRPC
import LinuxSystem
import Logging
import SecretMemory

/// Delivering answers to their requests, however late they come.
extension BrokerServer {
  /// Answers a request with a result.
  func succeed(_ key: CallerID, _ result: some JSONEncodable) {
    var writer = JSONWriter()
    result.encode(to: &writer)
    finish(key, isError: false, writer.bytes.span)
    wipe(&writer.bytes)
  }

  /// Answers a request with a result that is rendered already, and no secret.
  func succeed(_ key: CallerID, json: [UInt8]) {
    finish(key, isError: false, json.span)
  }

  /// Answers a request with a result that is rendered already, and secret.
  func succeed(_ key: CallerID, rendered: Secret) {
    guard let target = rpc.requests[key]?.address?.target else {
      return rendered.withBytes { bytes in finish(key, isError: false, isToken: true, bytes) }
    }
    var writer = JSONWriter()
    GrantedTarget(prefix: target.url, username: target.username, scheme: target.scheme).encode(to: &writer)
    let tail = Array(",\"target\":".utf8) + writer.bytes + Array("}".utf8)
    rendered.withBytes { bytes in
      // All at once: an array that grows leaves its bytes behind.
      var body: [UInt8] = []
      body.reserveCapacity(bytes.count + tail.count)
      body.append(copying: bytes.extracting(droppingLast: 1))
      body += tail
      finish(key, isError: false, isToken: true, body.span)
      wipe(&body)
    }
  }

  /// Answers a request with an error.
  func fail(_ key: CallerID, _ error: BrokerError) {
    let error = completed(error, of: key)
    if let method = rpc.requests[key]?.method {
      logFailure(error, of: method)
      auditRefusal(error, of: key, method)
    }
    let body = render(error)
    finish(key, isError: true, body.span)
  }

  /// Logs a failed call, under the name that the error has in its answer.
  private func logFailure(_ error: BrokerError, of method: String) {
    guard FailureLog.concerns(method, error) else { return }
    let isPersons = FailureLog.isPersons(method)
    var fields: [LogField] = [.word("method", method), .word("kind", error.kind.rawValue)]
    if let profile = error.profile { fields.append(.word("profile", profile.description)) }
    if isPersons { fields.append(.word("reason", error.messageForAll)) }
    fields.append(.word("correlationId", error.correlationID ?? ""))
    log.write(.info, isPersons ? "a call failed" : "a program's call failed", fields)
  }

  /// Has the broker answer a request.
  func ask<Value: Sendable>(
    _ request: Request, _ need: VaultNeed, _ method: Broker.Method<Value>
  ) {
    let caller = Caller<Value>(request.caller, as: request.principal)
    broker.assumeIsolated { $0.receive(caller, need, method) }
  }

  /// Answers a request with the broker's answer.
  func answer(_ key: CallerID, _ answer: Answer) {
    switch answer {
    case .value(let value): succeed(key, value)
    case .rendered(let json, let grant):
      if let grant { audit(grant, of: key) }
      succeed(key, rendered: json)
    case .failure(let error): fail(key, error)
    }
  }

  /// Answers once; a request that was cancelled, or whose connection is gone, is ignored.
  private func finish(_ key: CallerID, isError: Bool, isToken: Bool = false, _ body: Span<UInt8>) {
    guard let request = rpc.requests.remove(key) else { return }
    _ = ledger.add(.waitingRequests, -1)
    // What the server itself answers, the broker need not.
    if isError { broker.assumeIsolated { $0.detach(key) } }
    let connection = request.connection
    guard !connection.isClosed else { return }
    connection.inFlight.end(key, request)
    if connection.hold == .answers { enqueue(connection) }
    if let id = request.id { respond(to: id, request.batch, isError: isError, isToken: isToken, body, connection) }
    if let batch = request.batch {
      rpc.batches[batch]?.outstanding -= 1
      finishBatchIfComplete(batch)
    }
    flush(connection)
  }

  private func respond(
    to id: [UInt8], _ batch: UInt64?, isError: Bool, isToken: Bool, _ body: Span<UInt8>, _ connection: RPCConnection
  ) {
    if let batch {
      let response = ResponseWriter.response(id: id.span, isError: isError, body: body)
      connection.batchedBytes += response.count
      rpc.batches[batch]?.responses.append(response)
      if isToken { rpc.batches[batch]?.holdsToken = true }
    } else if isError {
      connection.writer.appendError(body, id: id.span, to: &connection.output.bytes)
    } else {
      connection.writer.appendResult(body, id: id.span, to: &connection.output.bytes)
      if isToken { connection.output.holdsToken = true }
    }
  }

  /// Appends the responses to a batch as one message.
  func append(batch responses: [[UInt8]], _ connection: RPCConnection) {
    var message = [UInt8(ascii: "[")]
    message.reserveCapacity(responses.reduce(2) { $0 + $1.count + 1 })
    for (position, response) in responses.enumerated() {
      if position > 0 { message.append(UInt8(ascii: ",")) }
      message += response
    }
    message.append(UInt8(ascii: "]"))
    connection.writer.framing.append(message.span, to: &connection.output.bytes)
    wipe(&message)
  }

  // MARK: Errors

  /// Appends an error response; without an id it is `null`.
  func respond(_ error: BrokerError, id: [UInt8]?, _ connection: RPCConnection) {
    let body = render(named(error))
    let id = id ?? Self.null
    connection.writer.appendError(body.span, id: id.span, to: &connection.output.bytes)
  }

  /// The error of a limit that refuses something; the refusal is counted.
  func refusal(of limit: Limit) -> BrokerError {
    ledger.note(limit)
    return ledger.error(of: limit)
  }

  /// The error with a name by which it can be found in the log.
  func named(_ error: BrokerError) -> BrokerError {
    var error = error
    if error.correlationID == nil { error.correlationID = Self.correlationID() }
    return error
  }

  /// The JSON of an error object that has its name.
  func render(_ error: BrokerError) -> [UInt8] {
    if error.kind == .internal {
      log.error("internal error", .word("correlationId", error.correlationID ?? ""), .word("what", error.message))
    }
    var writer = JSONWriter()
    error.encode(to: &writer)
    return writer.bytes
  }

  private static func correlationID() -> String {
    String(UInt64.random(in: 0...UInt64.max), radix: 36)
  }
}
