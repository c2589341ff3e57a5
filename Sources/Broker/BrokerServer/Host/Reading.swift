import BrokerCore
import LinuxSystem
import Logging
import SecretMemory
import Transport

/// How long bulk connections are served before the others get their turn, in nanoseconds since boot.
private struct RoundTime {
  /// The time that the others may wait for quick messages: less than one slow message takes.
  private static let quickTime: Int64 = 200_000
  /// After how many turns that took no time the clock is read.
  private static let unmeasuredTurns = 8

  /// The deadline for messages that take time.
  let deadline: Int64
  private let quickDeadline: Int64
  private var turns = 0

  init(from now: Int64, _ span: Int64) {
    deadline = now + span
    quickDeadline = max(deadline, now + Self.quickTime)
  }

  /// Whether the time is over after one more turn.
  mutating func isOver(isQuick: Bool) -> Bool {
    turns += 1
    if isQuick, turns < Self.unmeasuredTurns { return false }
    turns = 0
    return BootClock.nanoseconds >= (isQuick ? quickDeadline : deadline)
  }
}

/// Choosing the connections that are read.
extension BrokerServer {
  /// The size of a first read: some dozens of ordinary requests.
  ///
  /// A client that sends more waits in the queue of bulk connections, for the same turn or a later one.
  private static let firstReadSize = 4096
  /// How long the messages of a first read may take, in nanoseconds: a hundred clients together cannot be felt.
  private static let firstReadTime: Int64 = 100_000

  /// Reads and writes for the connections that the loop has announced.
  func moveAnnounced() {
    clock.read()
    while let accepted = announced.takeAccepted() { admit(accepted) }
    var list = announced.takeReady()
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
    announced.giveBack(&list)
  }

  private func mayBeServedBehind(_ connection: Connection) -> Bool {
    connection.isPlain && !connection.share.isQueued && connection.share.hadMuchToSay(&clock)
  }

  private func move(_ ready: ReadyConnections.Ready) {
    let connection = ready.connection
    if ready.mustClose { return close(connection) }
    if ready.isWritable { flush(connection) }
    // What was sent before a hang-up is still read: a program may say `logout` and go.
    if ready.isReadable, !connection.isClosed, connection.mayRead { readSoon(connection) }
    guard ready.isGone, !connection.isClosed else { return }
    if connection.isStopped || !connection.mayRead && connection.hold == nil { close(connection) }
  }

  /// Reads a connection at once, or lets it wait if it was a bulk one just now.
  private func readSoon(_ connection: Connection) {
    guard !connection.share.isQueued else { return }
    guard connection.isPlain || connection.input.isEmpty, !connection.share.hadMuchToSay(&clock) else {
      return enqueue(connection)
    }
    readFirst(connection)
  }

  /// Reads a little of a connection at once.
  func readFirst(_ connection: Connection) {
    clock.readIfOld()
    let budget = TurnBudget(messages: turns.messages, .span(Self.firstReadTime))
    readTurn(connection, upTo: Self.firstReadSize, budget)
  }

  /// Lets a connection wait until those that have little to say were read.
  func enqueue(_ connection: Connection) {
    guard !connection.share.isQueued, !connection.isClosed else { return }
    connection.share.isQueued = true
    connection.share.noteMuch(&clock)
    if turns.enqueue(connection.id) { post { $0.serveQueue() } }
  }

  /// Gives bulk connections a turn behind the events of the others, where none waits for that already.
  ///
  /// Those for which there is no time wait in the queue.
  private func serveBehind(_ late: Span<ReadyConnections.Ready>) {
    var (served, time) = (0, RoundTime(from: clock.nanoseconds, turns.roundTime))
    while turns.isEmpty, served < late.count {
      let connection = late[served].connection
      let isQuick = connection.isClosed || connection.share.isQueued || serve(connection, until: time.deadline)
      served += 1
      if time.isOver(isQuick: isQuick) { break }
    }
    for index in served..<late.count { enqueue(late[index].connection) }
  }

  /// Gives each connection of the queue one turn, as long as there is time; the others come first in the next round.
  private func serveQueue() {
    clock.read()
    var round = turns.beginRound()
    var (served, time) = (0, RoundTime(from: clock.nanoseconds, turns.roundTime))
    while served < round.count {
      let isQuick = connections[round[served]].map { serve($0, until: time.deadline) } ?? true
      served += 1
      if time.isOver(isQuick: isQuick) { break }
    }
    if turns.endRound(&round, served: served) { post { $0.serveQueue() } }
  }

  /// - Returns: whether that took no time that matters.
  private func serve(_ connection: Connection, until deadline: Int64) -> Bool {
    connection.share.isQueued = false
    clock.readIfOld()
    let budget = TurnBudget(messages: turns.messages, .deadline(deadline))
    guard connection.hold == nil else {
      takeTurn(connection, budget)
      return false
    }
    return !connection.mayRead || readTurn(connection, upTo: .max, budget)
  }
}

/// Reading.
extension BrokerServer {
  /// One read, the answers to complete messages, one send.
  ///
  /// - Parameters:
  ///   - connection: whose turn it is.
  ///   - most: how many bytes are read at most, where a turn may not have less.
  ///   - budget: what may be handled of it.
  /// - Returns: whether that took no time that matters: what is answered at once takes none.
  @discardableResult
  func readTurn(_ connection: Connection, upTo most: Int, _ budget: TurnBudget) -> Bool {
    var bytes: [UInt8] = []
    swap(&bytes, &buffers.scratch)
    defer { swap(&bytes, &buffers.scratch) }
    let room = min(most, bytes.count)
    let result =
      connection.mayBePassed
      ? connection.stream.receive(into: &bytes, upTo: room) : connection.stream.read(into: &bytes, upTo: room)
    turns.budget = budget
    var answered = 0
    switch result {
    case .bytes(let count):
      let turn = answerAtRest(bytes.span.extracting(first: count), connection)
      guard turn.isSent else {
        answered = turn.bytes
        break
      }
      wipe(&bytes, 0..<count)
      connection.mayBePassed = false
      if count == room { enqueue(connection) }
      return true
    case .wouldBlock where connection.isAtRest: return true
    // Nothing is left to say to it, and nothing of it waits.
    case .endOfStream where connection.isPlain && connection.isAnswered:
      close(connection)
      return true
    case .wouldBlock, .endOfStream, .failed: break
    }
    takeTurn(connection, result, room, &bytes, answered)
    return false
  }

  @inline(__always)
  private func answerAtRest(_ bytes: Span<UInt8>, _ connection: Connection) -> (bytes: Int, isSent: Bool) {
    guard !end.isDraining, connection.isPlain || connection.becomesPlain(bytes) else { return (0, false) }
    return connection.answerAtOnce(bytes, self)
  }

  /// The general end of a turn, behind the messages that were answered already.
  private func takeTurn(
    _ connection: Connection, _ result: IOResult, _ room: Int, _ bytes: inout [UInt8], _ answered: Int
  ) {
    if connection.isOpening { begin(connection) }
    inTurn(connection) {
      switch result {
      case .bytes(let count):
        take(&bytes, answered..<count, connection)
        wipe(&bytes, 0..<answered)
        // There may be more, or the rest of a long message.
        if count == room { enqueue(connection) }
      case .wouldBlock: break
      case .endOfStream:
        connection.end(.inputEnded)
        take(&bytes, 0..<0, connection)
      case .failed: connection.end(.closing)
      }
    }
  }

  /// Goes on with the messages of a connection that wait, without a read.
  func takeTurn(_ connection: Connection, _ budget: TurnBudget) {
    turns.budget = budget
    inTurn(connection) {
      var nothing: [UInt8] = []
      take(&nothing, 0..<0, connection)
    }
  }

  /// Collects the answers of `body`, and sends them at the end.
  ///
  /// A descriptor that came with messages which are answered by now, and which none of them took, is closed.
  private func inTurn(_ connection: Connection, _ body: () -> Void) {
    connection.mayBePassed = connection.entrance.takesDescriptors
    turns.current = connection.id
    clock.readIfOld()
    clock.age()
    connection.stir()
    buffers.lend(to: &connection.output)
    let waiting = connection.output.count
    body()
    connection.share.noteAnswered(connection.output.count - waiting, &clock)
    turns.current = nil
    if connection.input.isEmpty, connection.mayBePassed { _ = connection.stream.takePassed() }
    flush(connection)
    account(connection)
    if mustShed { shed() }
  }

  /// Appends a range of a scratch buffer to the rest of the connection's last read.
  ///
  /// The bytes are the caller's alone while messages are read from them, and are wiped wherever they were: a message
  /// may carry a password.
  private func take(_ bytes: inout [UInt8], _ fresh: Range<Int>, _ connection: Connection) {
    if connection.input.isEmpty {
      let rest = connection.take(bytes.span.extracting(fresh), self)
      if !rest.isEmpty { connection.input.append(bytes[fresh.lowerBound + rest.lowerBound..<fresh.upperBound]) }
      wipe(&bytes, fresh)
    } else {
      connection.input.append(bytes[fresh])
      wipe(&bytes, fresh)
      let head = connection.input.head
      var waiting = connection.input.takeOut()
      let rest = connection.take(waiting.span.extracting(head...), self)
      connection.input.putBack(rest.count, of: &waiting, from: head)
    }
    if connection.isClosed { connection.input.clear() }
    if connection.hold == .turn { enqueue(connection) }
    watchMessage(connection)
  }

  /// Starts or stops the timer of a message, by the rest of a read.
  private func watchMessage(_ connection: Connection) {
    guard !connection.input.isEmpty, connection.hold == nil, connection.mayRead else {
      return cancel(&connection.timers.message)
    }
    if connection.timers.message == nil {
      connection.timers.message = drop(
        connection, after: .incompleteMessage, "closed a connection with an incomplete message")
    }
  }
}
