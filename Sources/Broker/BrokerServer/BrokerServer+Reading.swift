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
  /// Moves what can be moved for the connections that the loop has announced.
  func moveAnnounced() {
    readClock()
    while let accepted = announced.takeAccepted() { admit(accepted) }
    var list: [ReadyConnections.Ready] = []
    swap(&list, &spareAnnounced)
    announced.exchange(&list)
    // Those that are served behind the others come to stand at the beginning.
    var late = 0
    for index in list.indices where !list[index].connection.isClosed {
      if list[index].isJustReadable, mayBeServedBehind(list[index].connection) {
        list.swapAt(late, index)
        late += 1
      } else {
        move(list[index])
      }
    }
    if late > 0 { serveBehind(list.span.extracting(first: late)) }
    list.removeAll(keepingCapacity: true)
    swap(&list, &spareAnnounced)
  }

  private func mayBeServedBehind(_ connection: Connection) -> Bool {
    connection.isPlain && !connection.isQueued && hadMuchToSay(connection)
  }

  private func move(_ ready: ReadyConnections.Ready) {
    let connection = ready.connection
    if ready.mustClose { return close(connection) }
    if ready.isWritable { flush(connection) }
    // What was sent before a hang-up is still read: a program may say `logout` and go.
    if ready.isReadable, !connection.isClosed, connection.mayRead { readSoon(connection) }
    guard ready.isGone, !connection.isClosed else { return }
    let isHeld = connection.isHeldUp || connection.awaitsAnswers
    if !connection.mayRead && !connection.hasMessages || isHeld { close(connection) }
  }

  /// How much is read at once.
  enum ReadSize {
    /// A little, of any connection.
    case first
    /// As much as a connection may have read in a turn.
    case full
  }

  /// One read, the answers to complete messages, one send.
  ///
  /// - Returns: whether that took no time that matters: requests for cached tokens take none.
  @discardableResult
  func readTurn(_ connection: Connection, _ size: ReadSize, _ budget: TurnBudget) -> Bool {
    var bytes: [UInt8] = []
    swap(&bytes, &scratch)
    defer { swap(&bytes, &scratch) }
    let room = size == .first ? min(Self.firstReadSize, bytes.count) : bytes.count
    let result = connection.stream.read(into: &bytes, upTo: room)
    turnBudget = budget
    var answered = 0
    switch result {
    case .bytes(let count):
      let turn = answerTokens(bytes.span.extracting(first: count), connection, budget)
      answered = turn.bytes
      guard turn.isSent else {
        turnBudget.count(turn.lines)
        break
      }
      wipe(&bytes, 0..<count)
      if count == room { enqueue(connection) }
      return true
    case .wouldBlock where connection.isAtRest: return true
    // Nothing is left to say to it, and nothing of it waits.
    case .endOfStream where connection.isPlain && connection.inFlight.isEmpty:
      close(connection)
      return true
    case .wouldBlock, .endOfStream, .failed: break
    }
    takeTurn(connection, result, room, &bytes, answered)
    return false
  }

  /// The general end of a turn, where requests for cached tokens at its beginning were answered already.
  private func takeTurn(
    _ connection: Connection, _ result: IOResult, _ room: Int, _ bytes: inout [UInt8], _ answered: Int
  ) {
    if !connection.hasBegun { begin(connection) }
    inTurn(connection) {
      queueTokens(connection)
      switch result {
      case .bytes(let count):
        take(&bytes, answered..<count, connection)
        wipe(&bytes, 0..<answered)
        // There may be more, or the rest of a long message.
        if count == room { enqueue(connection) }
      case .wouldBlock: break
      case .endOfStream:
        connection.hasInputEnded = true
        take(&bytes, 0..<0, connection)
      case .failed: connection.isClosing = true
      }
    }
  }

  /// Answers the requests for cached tokens with which the bytes begin, and sends the answers if nothing follows them.
  @inline(__always)
  private func answerTokens(
    _ bytes: Span<UInt8>, _ connection: Connection, _ budget: TurnBudget
  ) -> TokenAnswers.Turn {
    guard !isDraining, connection.isPlain || connection.becomesPlain(bytes) else { return TokenAnswers.Turn() }
    // One message at least is left for the general path, which knows what comes behind the last one of a turn.
    let turn = tokens.answer(
      bytes, most: budget.messages - 1, messageBytes: connection.messageByteLimit, tokenBounds, from: answers,
      at: turnTime, to: connection.stream)
    if turn.isSent { noteAnswered(turn.answerBytes, connection) }
    return turn
  }

  /// Lets the answers to requests for cached tokens wait before those that follow.
  private func queueTokens(_ connection: Connection) {
    guard tokens.waitingCount > 0 else { return }
    connection.output.bytes.makeRoom(for: tokens.waitingCount)
    tokens.withWaiting { connection.output.bytes.append(copying: $0) }
    connection.holdsToken = true
    tokens.clear()
  }

  /// Collects what `body` answers, and sends it at the end.
  func inTurn(_ connection: Connection, _ body: () -> Void) {
    current = connection.id
    if isClockOld { readClock() }
    isClockOld = true
    if connection.output.bytes.capacity == 0 { swap(&connection.output.bytes, &spareOutput) }
    let waiting = connection.output.count
    body()
    noteAnswered(connection.output.count - waiting, connection)
    current = nil
    flush(connection)
    account(connection)
    shedAfterTurn()
  }

  /// Takes in the bytes of a range of a scratch buffer, behind what is left of the connection's last read.
  ///
  /// The bytes are the caller's alone while messages are read from them, and are wiped wherever they were: a message may
  /// carry a password.
  func take(_ bytes: inout [UInt8], _ fresh: Range<Int>, _ connection: Connection) {
    if connection.input.isEmpty {
      let rest = cutMessages(bytes.span.extracting(fresh), connection)
      if !rest.isEmpty { connection.input.append(bytes[fresh.lowerBound + rest.lowerBound..<fresh.upperBound]) }
      wipe(&bytes, fresh)
    } else {
      connection.input.append(bytes[fresh])
      wipe(&bytes, fresh)
      let head = connection.input.head
      var waiting = connection.input.takeOut()
      let rest = cutMessages(waiting.span.extracting(head...), connection)
      connection.input.putBack(rest.count, of: &waiting, from: head)
    }
    if connection.isClosed { connection.input.clear() }
    if connection.hasMessages { enqueue(connection) }
    watchMessage(connection)
  }

  /// Receives complete messages, as many as the turn allows; the rest is the beginning of one that is not complete, is
  /// held up, or waits for the connection's next turn.
  private func cutMessages(_ bytes: Span<UInt8>, _ connection: Connection) -> Range<Int> {
    var offset = 0
    (connection.isHeldUp, connection.awaitsAnswers, connection.hasMessages) = (false, false, false)
    let outputLimit = limits[.outputBytes]
    while !connection.isClosing {
      guard connection.output.count <= outputLimit else {
        connection.isHeldUp = offset < bytes.count || connection.openBatch != nil
        return offset..<bytes.count
      }
      // A batch that was begun is answered, also where nothing more is read.
      guard continueBatch(connection) else {
        noteRest(of: connection)
        return offset..<bytes.count
      }
      guard !connection.readsNoMore, !connection.isClosing else { break }
      if isFull(connection), offset < bytes.count {
        connection.awaitsAnswers = true
        return offset..<bytes.count
      }
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

  /// Whether as many requests of a connection wait as may: the next ones are taken in when one of them is answered.
  func isFull(_ connection: Connection) -> Bool { connection.inFlight.count >= limits[.requestsInFlight] }

  /// Notes what the rest of a connection's batch waits for.
  private func noteRest(of connection: Connection) {
    if isFull(connection) { connection.awaitsAnswers = true } else { connection.hasMessages = true }
  }
}
