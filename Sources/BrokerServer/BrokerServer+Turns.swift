import BrokerCore
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

  /// How many bytes may be answered to a connection in that time before it counts as one that has much to say: those of
  /// some thousand tokens a second.
  private static let mostAnswered = 1 << 18

  /// Reads a connection at once, or lets it wait if it had much to say just now.
  func readSoon(_ connection: Connection) {
    guard !connection.isQueued else { return }
    guard connection.input.isEmpty, !hadMuchToSay(connection) else { return enqueue(connection) }
    turnBudget = TurnBudget(messages: limits[.turnMessages], .span(Self.firstReadTime))
    readTurn(connection, .first)
  }

  /// Lets a connection that is answered much wait behind the others for a while.
  ///
  /// Bytes are counted and not time, of which a busy machine takes as much from the innocent.
  func noteAnswered(_ byteCount: Int, _ connection: Connection) {
    if turnUptime >= connection.answeredUntil {
      (connection.answeredUntil, connection.answeredBytes) = (turnUptime + Self.bulkTime / 1_000_000, 0)
    }
    connection.answeredBytes += byteCount
    if connection.answeredBytes > Self.mostAnswered { connection.bulkUntil = BootClock.nanoseconds + Self.bulkTime }
  }

  /// Whether a connection was in the queue a moment ago; most never were, and cost no look at the clock.
  private func hadMuchToSay(_ connection: Connection) -> Bool {
    guard connection.bulkUntil > 0 else { return false }
    if connection.bulkUntil > BootClock.nanoseconds { return true }
    connection.bulkUntil = 0
    return false
  }

  /// Lets a connection wait until those that have little to say were read.
  func enqueue(_ connection: Connection) {
    guard !connection.isQueued, !connection.isClosed else { return }
    connection.isQueued = true
    connection.bulkUntil = BootClock.nanoseconds + Self.bulkTime
    queue.append(connection.id)
    scheduleRound()
  }

  private func scheduleRound() {
    guard !isRoundScheduled else { return }
    isRoundScheduled = true
    // What is posted runs behind the events of this turn, or of the next one.
    loop.post { [weak self] in self?.assumeIsolated { $0.serveQueue() } }
  }

  /// Gives each connection of the queue one turn, as long as there is time; the others come first in the next round.
  private func serveQueue() {
    isRoundScheduled = false
    var round: [ClientID] = []
    swap(&round, &queue)
    let deadline = BootClock.nanoseconds + Int64(limits[.turn]) * 1_000_000
    var served = 0
    while served < round.count {
      if let connection = connections[round[served]] { serve(connection, until: deadline) }
      served += 1
      if BootClock.nanoseconds >= deadline { break }
    }
    queue.insert(contentsOf: round[served...], at: 0)
    if !queue.isEmpty { scheduleRound() }
  }

  private func serve(_ connection: Connection, until deadline: Int64) {
    connection.isQueued = false
    turnBudget = TurnBudget(messages: limits[.turnMessages], .deadline(deadline))
    if connection.hasMessages || connection.isHeldUp {
      inTurn(connection) { take(0, .full, connection) }
    } else if connection.mayRead {
      readTurn(connection, .full)
    }
  }

  /// Whether connections wait for their turn.
  package var hasQueue: Bool { !queue.isEmpty }
}
