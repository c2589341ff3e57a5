import BrokerCore
import BrokerProtocol
import JSONRPC
import LinuxSystem
import Transport

/// One client as the server holds it.
///
/// Confined to the server's executor.
final class Connection: EventHandler {
  /// The connection's name.
  let id: ClientID
  /// Its bytes.
  let stream: any ClientStream
  /// Standard input and output: the end of the input ends the broker.
  let isStdio: Bool
  /// The process that made the connection; nil where the kernel names none.
  let process: Int32?
  /// Where it is noted that bytes can be moved.
  let announced: ReadyConnections
  /// How many bytes a message may have.
  let messageByteLimit: Int
  // What every turn looks at stands together, so that it is in few lines of the processor's cache.
  /// Whether it is known to be at rest, and at the beginning of a message.
  ///
  /// What is read next is then what comes next, and once the answers to that are sent all is as before. A change of
  /// anything that this depends on ends it.
  private(set) var isPlain = false
  /// Whether the connection is the server's, which knows it by its id.
  var hasBegun = false
  /// Whether the connection is no longer the server's.
  var isClosed = false
  /// Whether the connection is in the queue of those that have much to say.
  var isQueued = false
  /// Whether the client has said all that it will.
  var hasInputEnded = false { didSet { isPlain = false } }
  /// Whether the client has said that it ends: what it still says is not read.
  var readsNoMore = false { didSet { isPlain = false } }
  /// Nothing more is read; the connection ends when what waits is sent.
  var isClosing = false { didSet { isPlain = false } }
  /// Until when it is read behind the others, in nanoseconds since boot; 0 for most.
  var bulkUntil: Int64 = 0
  /// How many bytes it was answered lately.
  var answeredBytes = 0
  /// When that count begins again, in milliseconds of the broker's uptime.
  var answeredUntil: Int64 = 0
  /// Cuts messages out of what is read.
  var frames: FrameReader { didSet { isPlain = false } }
  /// Bytes of a message that is not complete yet, or whose turn has not come.
  var input = InputBuffer() { didSet { isPlain = false } }
  /// What is not sent yet.
  var output = OutputQueue() { didSet { isPlain = false } }
  /// Requests that wait for their answer.
  private(set) var inFlight: Set<CallerID> = []
  /// How many bytes their parameters have together.
  var parameterBytes = 0
  /// How many bytes their ids have together.
  var idBytes = 0
  /// Whether it has ever asked for what the cache does not answer: else the broker never heard of it.
  var hasAsked = false
  /// What it has asked for tokens of.
  var targets = TargetLimit()
  /// The batch of which some requests wait for the connection's next turn.
  var openBatch: OpenBatch? { didSet { isPlain = false } }
  /// Subscriptions whose own answer waits in a batch, by that batch.
  var unanswered: [String: UInt64] = [:]
  /// Subscriptions that missed events because the client does not read: the first and the last sequence.
  var lost: [String: (from: UInt64, to: UInt64)] = [:] { didSet { isPlain = false } }
  /// Subscriptions that are still told of earlier events, in order.
  var replays: [String] = [] { didSet { isPlain = false } }
  /// Whether a page of the first of them is awaited.
  var isReplayUnderWay = false
  /// Parameters that were ignored and already named in the log.
  var ignoredNames: Set<String> = []
  /// How many subscriptions it has.
  var subscriptions = 0
  /// Whether its client has shown that it has the state directory.
  var isAdministrative: Bool
  /// Whether its client wants to end a broker that drains, and is to prove first that it may.
  var mayStop = false
  /// Whether complete messages wait in `input` until the client has read its answers.
  var isHeldUp = false
  /// Whether messages wait in `input` until a request of the connection is answered: as many wait as may.
  var awaitsAnswers = false
  /// Whether complete messages may wait in `input` for the connection's next turn.
  var hasMessages = false
  /// Closes the connection if the message that it has begun does not end.
  var messageTimer: TimerID?
  /// How many bytes of answers and events wait in batches that are not complete.
  var batchedBytes = 0
  /// How much memory the ledger knows of.
  var accountedBytes = 0
  /// Whether a token may be among the bytes that wait.
  var holdsToken = false
  /// Whether tokens must not wait any more: the vault was locked.
  var dropsTokens = false
  /// Closes the connection if the client goes on reading nothing.
  var stallTimer: TimerID?
  /// What the loop was last asked to tell about the stream.
  var interest = (reading: true, writing: false) { didSet { isPlain = false } }

  /// A connection on which nothing was said yet.
  init(
    id: ClientID, stream: any ClientStream, isStdio: Bool, process: Int32?, messageByteLimit: Int,
    announced: ReadyConnections
  ) {
    self.id = id
    self.announced = announced
    self.stream = stream
    self.isStdio = isStdio
    self.process = process
    isAdministrative = isStdio
    self.messageByteLimit = messageByteLimit
    frames = FrameReader(messageByteLimit: messageByteLimit)
  }

  func ready(_ events: ReadyEvents) { announced.note(self, events, .both) }

  /// Whether nothing of it waits anywhere, and it is read as any other.
  var isAtRest: Bool {
    input.isEmpty && output.isEmpty && openBatch == nil && mayRead && interest == (true, false) && lost.isEmpty
      && replays.isEmpty
  }

  /// Whether messages may wait in `input`, whatever for.
  var mustBeTaken: Bool { hasMessages || isHeldUp || awaitsAnswers }

  /// Whether nothing of it is to be answered or to be sent.
  var waitsForNothing: Bool { inFlight.isEmpty && openBatch == nil && output.isEmpty && !mustBeTaken }

  /// Finds out whether it is plain, by what was read from it.
  func becomesPlain(_ bytes: Span<UInt8>) -> Bool {
    guard isAtRest, frames.isAtMessage(bytes) else { return false }
    isPlain = true
    return true
  }

  /// Notes that a request waits for its answer.
  func began(_ key: CallerID) { inFlight.insert(key) }

  /// Notes that a request waits no longer; a connection that waits for nothing keeps no memory for that.
  func ended(_ key: CallerID) {
    inFlight.remove(key)
    if inFlight.isEmpty { inFlight = [] }
  }

  /// How much memory its buffers and its waiting requests take.
  var heldBytes: Int {
    input.capacity + output.bytes.capacity + batchedBytes + (openBatch?.byteCount ?? 0) + parameterBytes + idBytes
  }

  /// The connection as the broker knows it.
  var peer: Peer { Peer(client: id, process: process, isAdministrative: isAdministrative) }

  /// The process that can prove something by its number; nil for one in another PID namespace, which the kernel calls 0.
  var provableProcess: Int32? { process.flatMap { $0 > 0 ? $0 : nil } }

  /// Whether there is any sense in reading.
  var mayRead: Bool { !hasInputEnded && !readsNoMore && !isClosing }

  /// How answers are framed; lines until the client has shown what it speaks.
  var writer: ResponseWriter { ResponseWriter(framing: frames.framing ?? .lines) }
}

/// A request that waits for its answer.
struct PendingRequest {
  /// The connection.
  let client: ClientID
  /// The text of the id, to be echoed byte for byte; nil for a notification, which gets no answer.
  let id: [UInt8]?
  /// The batch that the answer belongs to.
  let batch: UInt64?
  /// How many bytes its parameters have.
  var parameterBytes = 0
  /// The method, once it is known.
  var method: String?
}

/// A batch that waits for the answers of its requests.
struct PendingBatch {
  /// The connection.
  let client: ClientID
  /// How many answers are still to come.
  var outstanding: Int
  /// The answers that are there.
  var responses: [[UInt8]] = []
  /// Events of subscriptions that the batch itself has begun: they come behind its answer.
  var deliveries: [SubscriptionHub.Delivery] = []
  /// Whether a token is among the answers.
  var holdsToken = false
  /// What events of such a subscription were dropped, because so many came before the answer.
  var lost: [String: (from: UInt64, to: UInt64)] = [:]
  /// Whether all entries have been read; before that the batch cannot be complete.
  var isRead = false

  /// How many bytes its answers and events have.
  var byteCount: Int { responses.reduce(0) { $0 + $1.count } + deliveries.reduce(0) { $0 + $1.details.count } }
}
