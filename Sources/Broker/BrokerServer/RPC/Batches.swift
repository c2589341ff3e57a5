import BrokerCore
import BrokerProtocol
import JSON
import JSONRPC
import SecretMemory

/// The requests of a batch that wait for their connection's next turn.
///
/// Each is kept by itself, so that a turn reads the requests that it serves and none of the others.
struct OpenBatch {
  /// Names the batch among those that wait for answers.
  let id: UInt64
  /// The requests as they were sent, the next one last.
  private var requests: [[UInt8]]

  /// Copies requests out of the text of a batch.
  init(_ id: UInt64, _ ranges: some BidirectionalCollection<Range<Int>>, of text: Span<UInt8>) {
    self.id = id
    requests = ranges.reversed().map { range in range.map { text[$0] } }
  }

  /// Whether none waits any more.
  var isEmpty: Bool { requests.isEmpty }

  /// How much memory they take.
  var byteCount: Int { requests.reduce(0) { $0 + $1.count } }

  /// Takes the next request out; its bytes, which may hold a password, are the caller's to wipe.
  mutating func next() -> [UInt8]? { requests.popLast() }

  /// Forgets the requests.
  mutating func clear() {
    for index in requests.indices { wipe(&requests[index]) }
    requests = []
  }
}

/// A batch that waits for the answers of its requests.
struct PendingBatch {
  /// The connection.
  let client: ClientID
  /// How many answers are still to come.
  var outstanding = 0
  /// The answers that are there.
  var responses: [[UInt8]] = []
  /// Events of subscriptions that the batch itself has begun: they come behind its answer.
  var deliveries: [SubscriptionHub.Delivery] = []
  /// Whether a token is among the answers.
  var holdsToken = false
  /// The sequences of events that such a subscription has lost, because too many came before the answer.
  var lost: [String: (from: UInt64, to: UInt64)] = [:]
  /// Whether all entries have been read; before that the batch cannot be complete.
  var isRead = false

  /// Whether nothing of its answer is still to come.
  var isComplete: Bool { isRead && outstanding == 0 }

  /// How many bytes its answers and events have.
  var byteCount: Int { responses.reduce(0) { $0 + $1.count } + deliveries.reduce(0) { $0 + $1.details.count } }

  /// Wipes the answers.
  mutating func clear() {
    for position in responses.indices { wipe(&responses[position]) }
    responses = []
  }
}

/// Taking batches apart, and joining their answers to one message.
extension BrokerServer {
  /// Serves the batch on the tape, or as many of its requests as the turn allows; the others wait for the next turns.
  func receiveBatch(_ text: Span<UInt8>, _ connection: RPCConnection) {
    let entries = batchEntries
    guard !entries.isEmpty else {
      return respond(BrokerError(.invalidRequest, "A batch must not be empty."), id: nil, connection)
    }
    guard entries.count <= limits[.batchEntries] else {
      return respond(refusal(of: .batchEntries), id: nil, connection)
    }
    let id = rpc.batches.nextName()
    rpc.batches[id] = PendingBatch(client: connection.id)
    for (position, entry) in entries.enumerated() {
      if isFull(connection) || position > 0 && !turns.budget.spend() {
        connection.openBatch = OpenBatch(id, entries[position...].map { rpc.tape[$0].fullRange }, of: text)
        return
      }
      receive(Envelope(in: rpc.tape, at: entry, of: text, idByteLimit: limits.idBytes), text, connection, batch: id)
      guard !connection.isClosed else { return discardBatch(id) }
    }
    endBatch(id)
  }

  /// The positions of the batch's requests on the tape.
  private var batchEntries: [Int] {
    var entries: [Int] = []
    var index = 1
    while index < Int(rpc.tape[0].next) {
      entries.append(index)
      index = Int(rpc.tape[index].next)
    }
    return entries
  }

  /// Takes in requests of a batch that wait, as many as the turn allows.
  ///
  /// - Returns: whether none is left.
  func continueBatch(_ connection: RPCConnection) -> Bool {
    guard let id = connection.openBatch?.id else { return true }
    while !isFull(connection), var request = connection.openBatch?.next() {
      receive(request.span, ofBatch: id, connection)
      wipe(&request)
      guard !connection.isClosed else { return true }
      if !turns.budget.spend(), connection.openBatch?.isEmpty == false { return false }
    }
    guard connection.openBatch?.isEmpty == true else { return false }
    connection.openBatch = nil
    endBatch(id)
    return true
  }

  /// The limits may be narrower than they were when the batch was read.
  private func receive(_ request: Span<UInt8>, ofBatch id: UInt64, _ connection: RPCConnection) {
    do throws(JSONError) {
      try rpc.tape.scan(request, limits: limits.json)
    } catch {
      let own = RefusedMessage(request, idByteLimit: limits[.idBytes]).ids.first ?? nil
      let name = own.map { Array(copying: request.extracting($0)) } ?? Self.null
      return fail(open(name, connection, id), refusal(of: error))
    }
    receive(Envelope(in: rpc.tape, of: request, idByteLimit: limits.idBytes), request, connection, batch: id)
  }

  /// Every request of a batch was taken in.
  private func endBatch(_ id: UInt64) {
    rpc.batches[id]?.isRead = true
    finishBatchIfComplete(id)
  }

  /// Answers a batch as one array when its last answer is there; a batch of notifications gets none.
  func finishBatchIfComplete(_ id: UInt64) {
    guard rpc.batches[id]?.isComplete == true, var batch = rpc.batches.remove(id),
      let connection = rpcConnection(batch.client)
    else { return }
    connection.batchedBytes -= batch.byteCount
    if batch.holdsToken { connection.output.holdsToken = true }
    if !batch.responses.isEmpty { append(batch: batch.responses, connection) }
    batch.clear()
    connection.subscriptions.noteAnswered(id)
    for delivery in batch.deliveries { deliver(delivery) }
    connection.subscriptions.addLost(batch.lost)
    continueReplays(connection)
  }

  /// Wipes the answers of a batch that are not sent.
  func discardBatch(_ id: UInt64) {
    if var batch = rpc.batches.remove(id) { batch.clear() }
  }

  /// Notes for which connections a token waits in a batch.
  func noteBatchedTokens() {
    for batch in rpc.batches.all where batch.holdsToken { connections[batch.client]?.output.holdsToken = true }
  }
}
