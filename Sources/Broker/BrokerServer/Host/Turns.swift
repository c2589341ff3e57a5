import BrokerCore
import LinuxSystem

/// The present turn, and the queue of connections that wait for one: interactive connections come first, bulk
/// connections share a bounded time of each round.
struct Turns {
  /// The connection whose turn it is: its answers are sent together at the end.
  var current: ClientID?
  /// The rest of what may be handled in it.
  var budget = TurnBudget(messages: 1, .deadline(0))
  /// How many messages a turn may have.
  private(set) var messages = 0
  /// How long a round of bulk connections may last, in nanoseconds.
  private(set) var roundTime: Int64 = 0
  /// The bulk connections, in the order in which they are served.
  private var queue: [ClientID] = []
  /// An empty queue that takes turns with it.
  private var spare: [ClientID] = []
  /// Whether the loop will serve the queue.
  private var isRoundScheduled = false

  /// Turns within limits; no connection waits for one.
  init(_ limits: Limits) { setLimits(limits) }

  /// Bounds the turns to come otherwise.
  mutating func setLimits(_ limits: Limits) {
    messages = limits[.turnMessages]
    roundTime = Int64(limits[.turn]) * 1_000_000
  }

  /// Whether no connection waits.
  var isEmpty: Bool { queue.isEmpty }

  /// Lets a connection wait.
  ///
  /// - Returns: whether the loop has to be asked for a round.
  mutating func enqueue(_ id: ClientID) -> Bool {
    queue.append(id)
    return wantsRound()
  }

  private mutating func wantsRound() -> Bool {
    guard !isRoundScheduled else { return false }
    isRoundScheduled = true
    return true
  }

  /// Takes those out that wait.
  mutating func beginRound() -> [ClientID] {
    isRoundScheduled = false
    var round: [ClientID] = []
    swap(&round, &spare)
    swap(&round, &queue)
    return round
  }

  /// Lets those of a round that were not served wait before the others.
  ///
  /// - Returns: whether the loop has to be asked for another one.
  mutating func endRound(_ round: inout [ClientID], served: Int) -> Bool {
    round.removeFirst(served)
    if round.isEmpty { swap(&round, &spare) } else { queue.insert(contentsOf: round, at: 0) }
    return !queue.isEmpty && wantsRound()
  }
}

/// The most that is handled of one connection before the others get their turn.
///
/// Messages that are answered at once are only counted; behind any other the clock is read.
struct TurnBudget {
  /// When the time is over.
  enum Time {
    /// So many nanoseconds after the first message that takes any.
    case span(Int64)
    /// At a time in nanoseconds since boot.
    case deadline(Int64)
  }

  /// How many messages may still be handled.
  private(set) var messages: Int
  private var time: Time

  /// A budget of some messages and some time.
  init(messages: Int, _ time: Time) {
    self.messages = messages
    self.time = time
  }

  /// Counts messages that took no time, no more than are left.
  mutating func count(_ messages: Int) { self.messages -= messages }

  /// Counts a message that may have taken a time that matters.
  ///
  /// - Returns: whether another one may follow.
  mutating func spend() -> Bool {
    messages -= 1
    guard messages > 0 else { return false }
    let now = BootClock.nanoseconds
    switch time {
    case .deadline(let deadline): return now < deadline
    case .span(let span):
      time = .deadline(now + span)
      return true
    }
  }
}

/// The time of a turn: read once for all connections, and again after slow work.
struct TurnClock {
  /// The time by both clocks, in milliseconds.
  typealias Time = (wall: Int64, uptime: Int64)

  /// The time by the broker's clock.
  private(set) var time: Time = (0, 0)
  /// The time since boot in nanoseconds, read when it was first needed after that; 0 before.
  private var boottime: Int64 = 0
  /// Whether that was before something that may have taken time.
  private var isOld = true
  private let source: @Sendable () -> Time

  /// A clock that is read from its source.
  init(_ source: @escaping @Sendable () -> Time) { self.source = source }

  /// Reads the clocks.
  mutating func read() {
    time = source()
    boottime = 0
    isOld = false
  }

  /// Reads the clocks again where they may have moved.
  mutating func readIfOld() { if isOld { read() } }

  /// Notes that the following work may take time.
  mutating func age() { isOld = true }

  /// The time since boot in nanoseconds: few turns need it.
  var nanoseconds: Int64 {
    mutating get {
      if boottime == 0 { boottime = BootClock.nanoseconds }
      return boottime
    }
  }
}

/// The recent traffic of a connection, and whether it waits behind the others for that.
struct TurnShare {
  /// How long a bulk connection waits behind the others, in nanoseconds.
  private static let bulkTime: Int64 = 100_000_000
  /// The most bytes that may be answered to a connection in that time before it counts as a bulk one: those of some
  /// thousand tokens a second.
  private static let mostAnswered = 1 << 18

  /// Whether it is in the queue of bulk connections.
  var isQueued = false
  /// Until when it is read behind the others, in nanoseconds since boot; 0 for most.
  private var bulkUntil: Int64 = 0
  private var answeredBytes = 0
  /// When that count begins again, in milliseconds of the broker's uptime.
  private var answeredUntil: Int64 = 0

  /// Lets a connection that is answered much wait behind the others for a while.
  ///
  /// Bytes are counted and not time, of which a busy machine takes as much from the innocent.
  mutating func noteAnswered(_ byteCount: Int, _ clock: inout TurnClock) {
    if clock.time.uptime >= answeredUntil {
      (answeredUntil, answeredBytes) = (clock.time.uptime + Self.bulkTime / 1_000_000, 0)
    }
    answeredBytes += byteCount
    if answeredBytes > Self.mostAnswered { noteMuch(&clock) }
  }

  /// Lets it wait behind the others for a while.
  mutating func noteMuch(_ clock: inout TurnClock) { bulkUntil = clock.nanoseconds + Self.bulkTime }

  /// Whether it was a bulk connection a moment ago; most never were, and need no reading of the clock.
  mutating func hadMuchToSay(_ clock: inout TurnClock) -> Bool {
    guard bulkUntil > 0 else { return false }
    if bulkUntil > clock.nanoseconds { return true }
    bulkUntil = 0
    return false
  }
}
