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
      answered = answerAtRest(bytes.span.extracting(first: count), connection)
      guard answered == count, tokens.isEmpty else { break }
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

  /// Answers the requests for cached tokens with which a read of a connection at rest begins, and sends the answers if
  /// nothing follows them.
  ///
  /// - Returns: how many bytes those requests have.
  @inline(__always)
  private func answerAtRest(_ bytes: Span<UInt8>, _ connection: Connection) -> Int {
    guard !isDraining, connection.isPlain || connection.becomesPlain(bytes) else { return 0 }
    // One message at least is left for the general path, which knows what comes behind the last one of a turn.
    let answered = answerTokens(bytes, connection, most: turnBudget.messages - 1, room: tokenBounds.outputBytes)
    guard answered > 0, answered == bytes.count else { return answered }
    let byteCount = tokens.waitingCount
    if tokens.send(to: connection.stream) { noteAnswered(byteCount, connection) }
    return answered
  }

  /// - Returns: how many bytes the messages have whose answers wait now.
  @inline(__always)
  private func answerTokens(_ bytes: Span<UInt8>, _ connection: Connection, most: Int, room: Int) -> Int {
    let turn = tokens.answer(
      bytes, connection.frames, most: most, room: room, tokenBounds, from: answers, at: turnTime)
    turnBudget.count(turn.messages)
    return turn.bytes
  }

  /// Answers the requests for cached tokens with which what is left of a read begins, behind what waits for the client.
  ///
  /// - Returns: how many bytes those requests have.
  private func answerInTurn(_ bytes: Span<UInt8>, _ connection: Connection) -> Int {
    guard !isDraining, connection.frames.isAtMessage(bytes) else { return 0 }
    let room = tokenBounds.outputBytes - connection.output.count
    let answered = answerTokens(bytes, connection, most: turnBudget.messages, room: room)
    guard answered > 0 else { return 0 }
    connection.frames.tookMessages()
    queueTokens(connection)
    endMessageTimer(connection)
    return answered
  }

  /// Lets the answers to requests for cached tokens wait before those that follow.
  private func queueTokens(_ connection: Connection) {
    guard !tokens.isEmpty else { return }
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
      let answered = answerInTurn(rest, connection)
      let next = answered > 0 ? (consumed: answered, isWhole: true) : receiveNext(in: rest, connection)
      offset += next.consumed
      guard next.isWhole else { return offset..<bytes.count }
      let goesOn = answered > 0 ? turnBudget.messages > 0 : turnBudget.spend()
      if !goesOn, offset < bytes.count || connection.openBatch != nil {
        connection.hasMessages = true
        return offset..<bytes.count
      }
    }
    return bytes.count..<bytes.count
  }

  /// Receives the next message, whatever it is.
  ///
  /// - Returns: how many bytes are dealt with; and whether that is a message, or the end of it.
  private func receiveNext(in rest: Span<UInt8>, _ connection: Connection) -> (consumed: Int, isWhole: Bool) {
    switch connection.frames.step(rest, isFinal: connection.hasInputEnded) {
    case .needsMore(let consumed): return (consumed, false)
    case .message(let range, let consumed):
      receive(rest.extracting(range), connection)
      endMessageTimer(connection)
      return (consumed, true)
    case .tooLong(let consumed):
      respond(refusal(of: .messageBytes), id: nil, connection)
      return (consumed, true)
    case .broken(let why):
      respond(BrokerError(.parseError, why), id: nil, connection)
      connection.isClosing = true
      return (0, true)
    }
  }

  /// Whether as many requests of a connection wait as may: the next ones are taken in when one of them is answered.
  func isFull(_ connection: Connection) -> Bool { connection.inFlight.count >= limits[.requestsInFlight] }

  /// Notes what the rest of a connection's batch waits for.
  private func noteRest(of connection: Connection) {
    if isFull(connection) { connection.awaitsAnswers = true } else { connection.hasMessages = true }
  }
}
