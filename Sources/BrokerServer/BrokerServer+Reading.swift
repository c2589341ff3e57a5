import BrokerCore
import BrokerProtocol
import JSON
import JSONRPC
import LinuxSystem
import Logging
import SecretMemory
import Transport

/// How bytes become messages.
extension BrokerServer {
  /// Moves what can be moved for a connection; `isGone` says that no reader of an answer is left.
  func ready(_ id: ClientID, isReadable: Bool, isWritable: Bool, isGone: Bool) {
    guard let connection = connections[id] else { return }
    if isWritable { flush(connection) }
    // What was sent before a hang-up is still read: a program may say `logout` and go.
    if isReadable, !connection.isClosed, connection.mayRead { readSoon(connection) }
    let isDone = !connection.mayRead && !connection.hasMessages || connection.isHeldUp
    if isGone, !connection.isClosed, isDone { close(connection) }
  }

  /// How much is read at once.
  enum ReadSize {
    /// A little, of any connection.
    case first
    /// As much as a connection may have read in a turn.
    case full
  }

  /// One read, the answers to complete messages, one send.
  func readTurn(_ connection: Connection, _ size: ReadSize) {
    inTurn(connection) {
      let result =
        switch size {
        case .first: connection.stream.read(into: &firstScratch, at: 0)
        case .full: connection.stream.read(into: &scratch, at: 0)
        }
      switch result {
      case .bytes(let count):
        take(count, size, connection)
        // There may be more, or the rest of a long message.
        if count == (size == .first ? firstScratch.count : scratch.count) { enqueue(connection) }
      case .wouldBlock: break
      case .endOfStream:
        connection.hasInputEnded = true
        take(0, size, connection)
      case .failed: connection.isClosing = true
      }
    }
  }

  /// Collects what `body` answers, and sends it at the end.
  func inTurn(_ connection: Connection, _ body: () -> Void) {
    current = connection.id
    let now = broker.now
    (turnTime, turnUptime) = (now.wall.milliseconds, now.uptime.milliseconds)
    if connection.output.bytes.capacity == 0 { swap(&connection.output.bytes, &spareOutput) }
    let waiting = connection.output.count
    body()
    noteAnswered(connection.output.count - waiting, connection)
    current = nil
    flush(connection)
    account(connection)
    shedAfterTurn()
  }

  /// Takes in the first bytes of a scratch buffer, behind what is left of the connection's last read.
  ///
  /// The bytes are taken out of their place while messages are read from them, so that they have one owner, and are
  /// wiped wherever they were: a message may carry a password.
  func take(_ count: Int, _ size: ReadSize, _ connection: Connection) {
    if connection.input.isEmpty {
      var bytes: [UInt8] = []
      exchangeScratch(&bytes, size)
      let rest = cutMessages(bytes.span.extracting(first: count), connection)
      if !rest.isEmpty { connection.input.append(bytes[rest]) }
      wipe(&bytes, 0..<count)
      exchangeScratch(&bytes, size)
    } else {
      var fresh: [UInt8] = []
      exchangeScratch(&fresh, size)
      connection.input.append(fresh[..<count])
      wipe(&fresh, 0..<count)
      exchangeScratch(&fresh, size)
      let head = connection.input.head
      var bytes = connection.input.takeOut()
      let rest = cutMessages(bytes.span.extracting(head...), connection)
      connection.input.putBack(rest.count, of: &bytes, from: head)
    }
    if connection.isClosed { connection.input.clear() }
    if connection.hasMessages { enqueue(connection) }
    watchMessage(connection)
  }

  private func exchangeScratch(_ bytes: inout [UInt8], _ size: ReadSize) {
    switch size {
    case .first: swap(&bytes, &firstScratch)
    case .full: swap(&bytes, &scratch)
    }
  }

  /// Receives complete messages, as many as the turn allows; the rest is the beginning of one that is not complete, is
  /// held up, or waits for the connection's next turn.
  private func cutMessages(_ bytes: Span<UInt8>, _ connection: Connection) -> Range<Int> {
    var offset = 0
    (connection.isHeldUp, connection.hasMessages) = (false, false)
    let outputLimit = limits[.outputBytes]
    while !connection.isClosing {
      guard connection.output.count <= outputLimit else {
        connection.isHeldUp = offset < bytes.count || connection.openBatch != nil
        return offset..<bytes.count
      }
      // A batch that was begun is answered, also where nothing more is read.
      guard continueBatch(connection) else {
        connection.hasMessages = true
        return offset..<bytes.count
      }
      guard !connection.readsNoMore, !connection.isClosing else { break }
      let rest = bytes.extracting(offset..<bytes.count)
      var isSlow = true
      switch connection.frames.step(rest, isFinal: connection.hasInputEnded) {
      case .needsMore(let consumed): return offset + consumed..<bytes.count
      case .message(let range, let consumed):
        isSlow = receive(rest.extracting(range), connection)
        offset += consumed
        endMessageTimer(connection)
      case .tooLong(let consumed):
        respond(refusal(of: .messageBytes), id: nil, connection)
        offset += consumed
      case .broken(let why):
        respond(BrokerError(.parseError, why), id: nil, connection)
        connection.isClosing = true
      }
      if !turnBudget.spend(isSlow: isSlow), offset < bytes.count || connection.openBatch != nil {
        connection.hasMessages = true
        return offset..<bytes.count
      }
    }
    return bytes.count..<bytes.count
  }
}
