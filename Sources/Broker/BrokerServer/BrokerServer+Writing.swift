import BrokerCore
import BrokerProtocol
import JSON
import JSONRPC
import LinuxSystem
import Logging
import SecretMemory
import Transport

/// How answers and events leave.
extension BrokerServer {
  /// Appends an error response; without an id it is `null`.
  func respond(_ error: BrokerError, id: [UInt8]?, _ connection: Connection) {
    let body = render(named(error))
    let id = id ?? Array("null".utf8)
    connection.writer.appendError(body.span, id: id.span, to: &connection.output.bytes)
  }

  /// Answers every request of a batch with the same error; an id nil is `null`.
  func respond(_ error: BrokerError, ids: [[UInt8]?], _ connection: Connection) {
    let body = render(named(error))
    var message = [UInt8(ascii: "[")]
    for (position, id) in ids.enumerated() {
      if position > 0 { message.append(UInt8(ascii: ",")) }
      let id = id ?? Self.null
      message += ResponseWriter.response(id: id.span, isError: true, body: body.span)
    }
    message.append(UInt8(ascii: "]"))
    connection.writer.framing.append(message.span, to: &connection.output.bytes)
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

  /// Sends what waits, and lets the connection end where its time has come.
  func flush(_ connection: Connection) {
    guard current != connection.id, !connection.isClosed else { return }
    while !connection.output.isEmpty {
      switch connection.output.write(to: connection.stream) {
      case .bytes(let count):
        connection.output.sent(count)
        noteProgress(connection)
      case .wouldBlock:
        if connection.dropsTokens, connection.holdsToken { return dropTokens(connection) }
        watchForStall(connection)
        updateInterest(connection)
        return account(connection)
      case .endOfStream, .failed:
        close(connection)
        return
      }
    }
    releaseBuffer(connection)
    reportLosses(connection)
    if !connection.replays.isEmpty { continueReplays(connection) }
    if connection.isHeldUp { enqueue(connection) }
    guard connection.output.isEmpty else { return flush(connection) }
    if mayEnd(connection) { close(connection) } else { updateInterest(connection) }
    account(connection)
  }

  /// A buffer of ordinary size serves the next connection, so that idle ones hold none.
  private func releaseBuffer(_ connection: Connection) {
    var buffer: [UInt8] = []
    swap(&buffer, &connection.output.bytes)
    connection.output = OutputQueue()
    (connection.holdsToken, connection.dropsTokens) = (false, false)
    if buffer.capacity <= Self.readSize * 2 { swap(&buffer, &spareOutput) }
  }

  private func mayEnd(_ connection: Connection) -> Bool {
    if connection.isClosing { return true }
    // A subscription does not outlive the input either: a relay whose program has gone would stay for ever.
    let isRead = connection.hasInputEnded && !connection.mustBeTaken
    let isLeft = isDraining && !connection.mayStop && !connection.awaitsAnswers
    return (isRead || connection.readsNoMore || isLeft) && connection.inFlight.isEmpty && connection.openBatch == nil
      && (connection.replays.isEmpty || isDraining)
  }

  /// Asks the loop for what the connection needs now: a client that does not read is not read.
  func updateInterest(_ connection: Connection) {
    let isHeld = connection.isHeldUp || connection.awaitsAnswers || connection.output.count > limits[.outputBytes]
    let mayRead = connection.mayRead && !isHeld
    let interest = (reading: mayRead, writing: !connection.output.isEmpty)
    guard interest != connection.interest else { return }
    connection.interest = interest
    connection.stream.setInterest(reading: interest.reading, writing: interest.writing, on: loop)
  }

  private func noteProgress(_ connection: Connection) {
    if let timer = connection.stallTimer { loop.cancel(timer) }
    connection.stallTimer = nil
  }

  private func watchForStall(_ connection: Connection) {
    guard connection.stallTimer == nil else { return }
    let id = connection.id
    connection.stallTimer = loop.schedule(after: limits.duration(.stalledOutput)) { [weak self] in
      self?.assumeIsolated { server in
        guard let connection = server.connections[id] else { return }
        server.ledger.note(.stalledOutput)
        server.log.info("closed a connection that does not read", .number("connection", Int(id.number)))
        connection.stallTimer = nil
        server.close(connection)
      }
    }
  }

  /// How many events are kept for subscriptions whose own answer waits in a batch: as many as memory replays.
  private static let mostBatchedEvents = SubscriptionHub.keptEvents

  /// Passes an event on, unless the client is so far behind that it can only be told that events were lost.
  func deliver(_ delivery: SubscriptionHub.Delivery) {
    guard let connection = connections[delivery.client], !connection.isClosing else { return }
    let sequence = delivery.event.sequence
    if let batch = connection.unanswered[delivery.subscriptionID], let deliveries = batches[batch]?.deliveries {
      if deliveries.count < Self.mostBatchedEvents {
        batches[batch]?.deliveries.append(delivery)
        connection.batchedBytes += delivery.details.count
        account(connection)
      } else {
        batches[batch]?.lost[delivery.subscriptionID, default: (sequence, sequence)].to = sequence
        ledger.note(.outputBytes)
      }
      return
    }
    if connection.output.count > limits[.outputBytes] || connection.lost[delivery.subscriptionID] != nil {
      ledger.note(.outputBytes)
      let first = connection.lost[delivery.subscriptionID]?.from ?? sequence
      connection.lost[delivery.subscriptionID] = (first, sequence)
      return
    }
    append(delivery.event, delivery.details, delivery.subscriptionID, connection)
    flush(connection)
  }

  /// Appends one event, framed, with nothing of a login that is not for this connection; `details` is all of it.
  func append(_ event: BrokerEvent, _ details: [UInt8], _ subscriptionID: String, _ connection: Connection) {
    var details = details
    if let payload = event.payload.shown(to: connection.peer) {
      var event = event
      event.payload = payload
      details = event.details()
    }
    let message = event.notification(for: subscriptionID, details)
    connection.writer.framing.append(message.span, to: &connection.output.bytes)
  }

  /// Tells a client that reads again which events it missed; the subscription lives on.
  private func reportLosses(_ connection: Connection) {
    guard !connection.lost.isEmpty else { return }
    let lost = connection.lost
    connection.lost = [:]
    for (subscription, range) in lost.sorted(by: { $0.key < $1.key }) {
      appendLoss(range.from, range.to, subscription, connection)
    }
  }

  /// Appends the word that events of these sequences were lost for a subscription.
  func appendLoss(_ from: UInt64, _ through: UInt64, _ subscription: String, _ connection: Connection) {
    let payload = EventPayload.eventsLost(EventsLostEvent(from: Int(clamping: from), to: Int(clamping: through)))
    let event = BrokerEvent(sequence: through, profile: nil, time: WallClock.timestamp, payload: payload)
    append(event, event.details(), subscription, connection)
  }

  /// Ends a connection and everything that it had begun to wait for.
  func close(_ connection: Connection) {
    guard connections.removeValue(forKey: connection.id) != nil else { return }
    _ = ledger.add(.connections, -1)
    connection.isClosed = true
    connection.isClosing = true
    if let timer = connection.stallTimer { loop.cancel(timer) }
    endMessageTimer(connection)
    connection.stream.close(on: loop)
    for key in connection.inFlight { forget(key) }
    if let batch = connection.openBatch { discardBatch(batch.id) }
    connection.openBatch?.clear()
    connection.openBatch = nil
    forgetProof(connection)
    if connection.hasAsked {
      let id = connection.id
      broker.assumeIsolated { $0.leave(id) }
    }
    connection.input.clear()
    wipe(&connection.output.bytes)
    connection.output = OutputQueue()
    settle(connection)
    if connection.isStdio { drain() } else { listener?.connectionClosed() }
    connectionEnded()
  }

  private func forget(_ key: CallerID) {
    guard let request = requests.removeValue(forKey: key) else { return }
    _ = ledger.add(.waitingRequests, -1)
    broker.assumeIsolated { $0.detach(key) }
    if let batch = request.batch { discardBatch(batch) }
  }
}
