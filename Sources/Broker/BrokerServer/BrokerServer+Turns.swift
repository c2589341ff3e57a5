import BrokerCore
import BrokerProtocol
import JSON
import LinuxSystem
import SecretMemory
import Transport

/// Who is read when: those that have little to say come first, those that have much share a bounded time of each turn.
extension BrokerServer {
  /// How much a first read may bring: some dozens of ordinary requests.
  ///
  /// A client that sends more waits in the queue of those that have much to say, for the same turn or a later one.
  static let firstReadSize = 4096
  /// How long the messages of a first read may take, in nanoseconds: a hundred clients together cannot be felt.
  private static let firstReadTime: Int64 = 100_000
  /// How long a connection that had much to say waits behind the others, in nanoseconds.
  private static let bulkTime: Int64 = 100_000_000

  /// How long the others may wait for connections that had much to say, and ask for nothing but cached tokens, in
  /// nanoseconds: less than one slow message takes.
  private static let quickRoundTime: Int64 = 200_000

  /// How many bytes may be answered to a connection in that time before it counts as one that has much to say: those of
  /// some thousand tokens a second.
  private static let mostAnswered = 1 << 18

  /// Reads a connection at once, or lets it wait if it had much to say just now.
  func readSoon(_ connection: Connection) {
    guard !connection.isQueued else { return }
    guard connection.isPlain || connection.input.isEmpty, !hadMuchToSay(connection) else { return enqueue(connection) }
    readFirst(connection)
  }

  /// Reads a connection at once.
  func readFirst(_ connection: Connection) {
    if isClockOld { readClock() }
    readTurn(connection, .first, TurnBudget(messages: tokenBounds.turnMessages, .span(Self.firstReadTime)))
  }

  /// Notes what time it is.
  func readClock() {
    let now = broker.milliseconds
    turnTime = TokenAnswers.Time(wall: now.wall, uptime: now.uptime)
    boottime = 0
    isClockOld = false
  }

  /// The time since boot in nanoseconds: few turns need it.
  private var turnNanoseconds: Int64 {
    if boottime == 0 { boottime = BootClock.nanoseconds }
    return boottime
  }

  /// Lets a connection that is answered much wait behind the others for a while.
  ///
  /// Bytes are counted and not time, of which a busy machine takes as much from the innocent.
  func noteAnswered(_ byteCount: Int, _ connection: Connection) {
    if turnTime.uptime >= connection.answeredUntil {
      (connection.answeredUntil, connection.answeredBytes) = (turnTime.uptime + Self.bulkTime / 1_000_000, 0)
    }
    connection.answeredBytes += byteCount
    if connection.answeredBytes > Self.mostAnswered { connection.bulkUntil = turnNanoseconds + Self.bulkTime }
  }

  /// Whether a connection was in the queue a moment ago; most never were, and cost no look at the clock.
  func hadMuchToSay(_ connection: Connection) -> Bool {
    guard connection.bulkUntil > 0 else { return false }
    if connection.bulkUntil > turnNanoseconds { return true }
    connection.bulkUntil = 0
    return false
  }

  /// Lets a connection wait until those that have little to say were read.
  func enqueue(_ connection: Connection) {
    guard !connection.isQueued, !connection.isClosed else { return }
    connection.isQueued = true
    connection.bulkUntil = turnNanoseconds + Self.bulkTime
    queue.append(connection.id)
    scheduleRound()
  }

  private func scheduleRound() {
    guard !isRoundScheduled else { return }
    isRoundScheduled = true
    // What is posted runs behind the events of this turn, or of the next one.
    loop.post { [weak self] in self?.assumeIsolated { $0.serveQueue() } }
  }

  /// The time of the round that begins now.
  private var roundTime: RoundTime {
    let now = turnNanoseconds
    let deadline = now + tokenBounds.roundNanoseconds
    return RoundTime(deadline: deadline, quickDeadline: max(deadline, now + Self.quickRoundTime))
  }

  /// Gives connections that had much to say a turn behind the events of the others, where none waits for that already.
  ///
  /// Those for which there is no time wait in the queue.
  func serveBehind(_ late: Span<ReadyConnections.Ready>) {
    var (served, time) = (0, roundTime)
    while queue.isEmpty, served < late.count {
      let isQuick = serve(late[served], until: time.deadline)
      served += 1
      if time.isOver(isQuick: isQuick) { break }
    }
    for index in served..<late.count { enqueue(late[index].connection) }
  }

  private func serve(_ late: ReadyConnections.Ready, until deadline: Int64) -> Bool {
    late.connection.isClosed || late.connection.isQueued || serve(late.connection, until: deadline)
  }

  /// Gives each connection of the queue one turn, as long as there is time; the others come first in the next round.
  private func serveQueue() {
    isRoundScheduled = false
    readClock()
    var round: [ClientID] = []
    swap(&round, &spareQueue)
    swap(&round, &queue)
    var (served, time) = (0, roundTime)
    while served < round.count {
      let isQuick = connections[round[served]].map { serve($0, until: time.deadline) } ?? true
      served += 1
      if time.isOver(isQuick: isQuick) { break }
    }
    round.removeFirst(served)
    if round.isEmpty { swap(&round, &spareQueue) } else { queue.insert(contentsOf: round, at: 0) }
    if !queue.isEmpty { scheduleRound() }
  }

  /// - Returns: whether that took no time that matters.
  private func serve(_ connection: Connection, until deadline: Int64) -> Bool {
    connection.isQueued = false
    if isClockOld { readClock() }
    let budget = TurnBudget(messages: tokenBounds.turnMessages, .deadline(deadline))
    if connection.mustBeTaken {
      turnBudget = budget
      inTurn(connection) {
        var nothing: [UInt8] = []
        take(&nothing, 0..<0, connection)
      }
      return false
    }
    return !connection.mayRead || readTurn(connection, .full, budget)
  }

  /// Whether connections wait for their turn.
  package var hasQueue: Bool { !queue.isEmpty }
}
