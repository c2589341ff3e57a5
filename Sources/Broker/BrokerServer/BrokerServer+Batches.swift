import BrokerCore
import BrokerProtocol
import JSON
import JSONRPC
import SecretMemory

/// How batches become requests, and their answers one message.
extension BrokerServer {
  /// Takes in the batch on the tape, or as many of its requests as the turn allows; the others wait for the next turns.
  func receiveBatch(_ text: Span<UInt8>, _ connection: Connection) {
    let entries = batchEntries
    guard !entries.isEmpty else {
      return respond(BrokerError(.invalidRequest, "A batch must not be empty."), id: nil, connection)
    }
    guard entries.count <= limits[.batchEntries] else {
      return respond(refusal(of: .batchEntries), id: nil, connection)
    }
    batchCount += 1
    let id = batchCount
    batches[id] = PendingBatch(client: connection.id, outstanding: 0)
    for (position, entry) in entries.enumerated() {
      if isFull(connection) || position > 0 && !turnBudget.spend() {
        connection.openBatch = OpenBatch(id, entries[position...].map { tape[$0].fullRange }, of: text)
        return
      }
      receive(Envelope(in: tape, at: entry, of: text, idByteLimit: limits.idBytes), text, connection, batch: id)
      guard !connection.isClosed else { return discardBatch(id) }
    }
    endBatch(id)
  }

  /// Where the requests of the batch on the tape stand.
  private var batchEntries: [Int] {
    var entries: [Int] = []
    var index = 1
    while index < Int(tape[0].next) {
      entries.append(index)
      index = Int(tape[index].next)
    }
    return entries
  }

  /// Takes in requests of a batch that wait, as many as the turn allows.
  ///
  /// - Returns: whether none is left.
  func continueBatch(_ connection: Connection) -> Bool {
    guard let id = connection.openBatch?.id else { return true }
    while !isFull(connection), var request = connection.openBatch?.next() {
      receive(request.span, ofBatch: id, connection)
      wipe(&request)
      guard !connection.isClosed else { return true }
      if !turnBudget.spend(), connection.openBatch?.isEmpty == false { return false }
    }
    guard connection.openBatch?.isEmpty == true else { return false }
    connection.openBatch = nil
    endBatch(id)
    return true
  }

  /// The limits may be narrower than they were when the batch was read.
  private func receive(_ request: Span<UInt8>, ofBatch id: UInt64, _ connection: Connection) {
    do throws(JSONError) {
      try tape.scan(request, limits: limits.json)
    } catch {
      let own = RefusedMessage(request, idByteLimit: limits[.idBytes]).ids.first ?? nil
      let name = own.map { Array(copying: request.extracting($0)) } ?? Self.null
      return fail(open(name, connection, id), refusal(of: error))
    }
    receive(Envelope(in: tape, of: request, idByteLimit: limits.idBytes), request, connection, batch: id)
  }

  /// Every request of a batch was taken in.
  private func endBatch(_ id: UInt64) {
    batches[id]?.isRead = true
    finishBatchIfComplete(id)
  }

  /// Answers a batch as one array when its last answer is there; a batch of notifications gets none.
  func finishBatchIfComplete(_ id: UInt64) {
    guard var batch = batches[id], batch.isRead, batch.outstanding == 0 else { return }
    batches[id] = nil
    guard let connection = connections[batch.client] else { return }
    connection.batchedBytes -= batch.byteCount
    if batch.holdsToken { connection.holdsToken = true }
    if !batch.responses.isEmpty {
      var message: [UInt8] = []
      message.reserveCapacity(batch.responses.reduce(2) { $0 + $1.count + 1 })
      message.append(UInt8(ascii: "["))
      for position in batch.responses.indices {
        if position > 0 { message.append(UInt8(ascii: ",")) }
        message.append(contentsOf: batch.responses[position])
        wipe(&batch.responses[position])
      }
      message.append(UInt8(ascii: "]"))
      connection.writer.framing.append(message.span, to: &connection.output.bytes)
      wipe(&message)
    }
    connection.unanswered = connection.unanswered.filter { $0.value != id }
    for delivery in batch.deliveries { deliver(delivery) }
    connection.lost.merge(batch.lost) { (min($0.from, $1.from), max($0.to, $1.to)) }
    continueReplays(connection)
  }

  /// Wipes the answers of a batch that are not sent.
  func discardBatch(_ id: UInt64) {
    guard var batch = batches.removeValue(forKey: id) else { return }
    for position in batch.responses.indices { wipe(&batch.responses[position]) }
  }
}
