package import BrokerCore
package import BrokerProtocol
import JSON
package import LinuxSystem
package import Logging
package import Transport

/// Speaks with clients: bytes in, requests to the broker, answers and events out.
///
/// An actor on the loop, as the broker is: a request that needs no I/O is read, decided and answered in one turn. One
/// readable connection costs one read, the answers to all complete messages, and one send.
package actor BrokerServer {
  /// Where the actor runs.
  package nonisolated let loop: EventLoop
  // The loop is kept alive by the property above for as long as the actor lives.
  package nonisolated var unownedExecutor: UnownedSerialExecutor { unsafe loop.asUnownedSerialExecutor() }

  /// What the program around the server does for it.
  package struct Environment: Sendable {
    /// Takes the names of the profiles that a configuration which was read again has, or why it was not taken over.
    package typealias ReloadReply = @Sendable (Result<[ProfileName], BrokerError>) -> Void

    /// Reads the configuration again and hands it to the broker.
    package var reload: @Sendable (@escaping ReloadReply) -> Void
    /// The OpenRPC document.
    package var discovery: @Sendable () -> [UInt8]
    /// Called once, when ``BrokerServer/drain()`` begins.
    package var stopping: @Sendable () -> Void
    /// Called once, when the last connection is closed after ``BrokerServer/drain()``, or has had its time.
    package var stopped: @Sendable () -> Void
    /// Where clients show that they have the state directory.
    package var proofs: ProofDirectory
    /// The directory of the embedded provider's accounts; nil where no profile has used that provider since the start.
    package var directory: @Sendable () -> (any AccountDirectory)?
    /// The types of provider that can be configured.
    package var providers: [(name: String, abilities: Set<ProviderAbility>)]
    /// How the embedded provider's messages get out; empty where it is not in use.
    package var delivery: @Sendable () -> [GetStatus.Delivery]
    /// Who is trusted beside the system's authorities.
    package var authorities: @Sendable () -> [GetStatus.Authority]
    /// Which servers get which profile's token.
    package var targets: @Sendable () -> TargetMap
    /// The version of the program.
    package var version: String

    /// The surroundings of a server.
    package init(
      reload: @escaping @Sendable (@escaping ReloadReply) -> Void,
      discovery: @escaping @Sendable () -> [UInt8], stopping: @escaping @Sendable () -> Void = {},
      stopped: @escaping @Sendable () -> Void, proofs: ProofDirectory,
      directory: @escaping @Sendable () -> (any AccountDirectory)?,
      providers: [(name: String, abilities: Set<ProviderAbility>)],
      delivery: @escaping @Sendable () -> [GetStatus.Delivery] = { [] },
      authorities: @escaping @Sendable () -> [GetStatus.Authority] = { [] },
      targets: @escaping @Sendable () -> TargetMap = { TargetMap() }, version: String
    ) {
      self.reload = reload
      self.discovery = discovery
      self.stopping = stopping
      self.stopped = stopped
      self.proofs = proofs
      self.directory = directory
      self.providers = providers
      self.delivery = delivery
      self.authorities = authorities
      self.targets = targets
      self.version = version
    }
  }

  /// Who decides.
  let broker: Broker
  /// Answers that need no broker.
  let answers: AnswerCache
  /// Enforces limits and counts what they refuse.
  let ledger: LimitLedger
  /// The present limits: those of the ledger, where the hot path finds them.
  package internal(set) var limits: Limits {
    didSet {
      tokenBounds = TokenAnswers.Bounds(limits)
      tokens.forgetQuestion()
    }
  }
  /// Those of them that requests for cached tokens are held to.
  var tokenBounds: TokenAnswers.Bounds
  /// What the program around does.
  let environment: Environment
  /// Where to tell what happened.
  let log: Logger
  /// Which failed calls are told there.
  var failureLog = FailureLog()
  /// Which unknown parameters are named there.
  var ignoredParameters = IgnoredParameters()
  /// When the configuration was last read and taken over.
  var configurationReadAt: Timestamp
  /// When the server started.
  let startedAt: Timestamp
  /// The same, on the clock that never jumps.
  let startedUptime: Duration

  /// Buffers up to twice this size are used again.
  static let readSize = 1 << 16

  /// The open connections.
  var connections: [ClientID: Connection] = [:]
  /// The files that clients were asked for and have not been judged by.
  var proofs: [ClientID: StateProof] = [:]
  /// How many connections there ever were; names the next one.
  var clients: UInt64 = 0
  /// Requests that wait for their answer.
  var requests: [CallerID: PendingRequest] = [:]
  /// How many requests there ever were; names the next one.
  var requestCount: UInt64 = 0
  /// Batches that wait for answers.
  var batches: [UInt64: PendingBatch] = [:]
  /// How many batches there ever were; names the next one.
  var batchCount: UInt64 = 0
  /// Where every read goes first.
  var scratch: [UInt8]
  /// The answers to requests for cached tokens of the turn at hand.
  var tokens = TokenAnswers()
  /// The connections for which the loop has announced something.
  let announced = ReadyConnections()
  /// An empty list that takes turns with theirs.
  var spareAnnounced: [ReadyConnections.Ready] = []
  /// Whether the loop calls the server behind its events.
  var isOnLoop = false
  /// What may still be handled of the connection at hand.
  var turnBudget = TurnBudget(messages: 1, .deadline(0))
  /// The connections that have much to say, in the order in which they are served.
  var queue: [ClientID] = []
  /// An empty queue that takes turns with it.
  var spareQueue: [ClientID] = []
  /// Whether the loop will serve the queue.
  var isRoundScheduled = false
  /// The OpenRPC document, rendered once.
  private(set) lazy var discovery = environment.discovery()
  /// How many connections were closed for the memory they held since that was last told.
  var shedSinceLogged = 0
  /// Whether connections hold too much, and the one that holds most has its turn.
  var mustShed = false
  /// When it may be told again.
  var nextShedLog = Duration.zero
  /// A buffer for the answers of the next turn.
  var spareOutput: [UInt8] = []
  /// The structure of the message at hand.
  var tape = JSONTape()
  /// The connection whose messages are being read: its answers are sent together at the end.
  var current: ClientID?
  /// The time by the broker's clock: read once for all connections of a turn, and again behind what takes time.
  var turnTime = TokenAnswers.Time()
  /// The time since boot in nanoseconds, read when it was first needed after that; 0 before.
  var boottime: Int64 = 0
  /// Whether that was before something that may have taken time.
  var isClockOld = true
  /// Where connections come from.
  var listener: UnixListener?
  /// Whether the server takes nothing new any more.
  var isDraining = false
  /// Whether the program was told that the server is done.
  var hasStopped = false
  /// When an owner that was started on demand ends; nil for one that stays.
  var linger: Linger?
  /// Looks whether what is waited for is over.
  var drainTimer: TimerID?
  /// How long it is waited; nil before the server drains.
  var drainTime: DrainTime?

  /// A server without connections.
  package init(
    loop: EventLoop, broker: Broker, limits: Limits, environment: Environment, log: Logger, startedAt: Timestamp
  ) {
    self.loop = loop
    self.broker = broker
    answers = broker.answers
    ledger = broker.ledger
    ledger.limits = limits
    self.limits = limits
    tokenBounds = TokenAnswers.Bounds(limits)
    scratch = [UInt8](repeating: 0, count: limits[.turnBytes])
    self.environment = environment
    self.log = log
    self.startedAt = startedAt
    configurationReadAt = startedAt
    startedUptime = BootClock.now
  }

  /// Takes over standard input and output as a connection; the end of the input ends the server.
  ///
  /// - Throws: what epoll says of the descriptors.
  package nonisolated func take(_ channel: consuming sending StdioChannel) throws(Errno) {
    let stream = StdioStream(channel)
    try adopt(stream, isStdio: true, process: nil).get()
  }

  /// Takes over connections as a listener accepts them; one that was there before, whose path has gone, accepts no more.
  ///
  /// - Throws: `EMFILE` and the like.
  package nonisolated func listen(_ socket: consuming sending UnixSocket.Listening) throws(Errno) {
    let (limit, ledger) = assumeIsolated { ($0.limits[.connections], $0.ledger) }
    let listener = UnixListener(loop: loop, socket: socket, limit: limit, user: ProcessIdentity.user)
    listener.isFull = { ledger.note(.connections) }
    try start(listener).get()
  }

  /// Whether the path of the socket is one that this process made.
  package var ownsSocketPath: Bool { listener?.ownsPath ?? false }
  /// Whether the path of the socket still leads to it.
  package var isSocketInPlace: Bool { listener?.isInPlace ?? true }

  /// Takes over one connected socket, which must not block, of a process where one is named.
  ///
  /// - Throws: what epoll says of the descriptor.
  package nonisolated func take(
    _ descriptor: consuming sending FileDescriptor, process: Int32? = nil
  ) throws(Errno) {
    let stream = SocketStream(descriptor)
    try adopt(stream, isStdio: false, process: process).get()
  }

  private nonisolated func start(_ listener: sending UnixListener) -> Result<Void, Errno> {
    assumeIsolated { server in
      server.joinLoop()
      return Result { [announced = server.announced] () throws(Errno) in
        try listener.start { descriptor, peer in
          announced.note(ReadyConnections.Accepted(stream: SocketStream(descriptor), process: peer.pid))
        }
        if let old = server.listener { listener.replace(old) }
        server.listener = listener
      }
    }
  }

  private nonisolated func adopt(
    _ stream: sending some ClientStream, isStdio: Bool, process: Int32?
  ) -> Result<Void, Errno> {
    assumeIsolated { server in
      Result { () throws(Errno) in try server.add(stream, isStdio: isStdio, process: process) }
    }
  }

  private func add(_ stream: any ClientStream, isStdio: Bool, process: Int32?) throws(Errno) {
    let connection = connection(on: stream, isStdio: isStdio, process: process)
    try stream.attach(to: loop, connection)
    begin(connection)
  }

  /// Takes over a connection that was just accepted.
  ///
  /// Its client mostly has asked for a token already: it is answered before anything else is noted of the connection, the
  /// loop's waiting included.
  func admit(_ accepted: ReadyConnections.Accepted) {
    // The server may have ended within this turn, when the connection was not its own yet.
    guard !hasStopped else {
      listener?.connectionClosed()
      return
    }
    let connection = connection(on: accepted.stream, isStdio: false, process: accepted.process)
    readFirst(connection)
    guard !connection.isClosed else { return }
    if !connection.hasBegun { begin(connection) }
    do throws(Errno) {
      try accepted.stream.attach(to: loop, connection)
    } catch {
      log.warning("connection refused", .code("errno", error.code))
      close(connection)
    }
  }

  private func connection(on stream: any ClientStream, isStdio: Bool, process: Int32?) -> Connection {
    clients += 1
    return Connection(
      id: ClientID(clients), stream: stream, isStdio: isStdio, process: process,
      messageByteLimit: tokenBounds.messageBytes, announced: announced)
  }

  /// Takes a connection over, before it is told anything but tokens.
  func begin(_ connection: Connection) {
    connection.hasBegun = true
    connections[connection.id] = connection
    _ = ledger.add(.connections, 1)
    cancelLinger()
    joinLoop()
  }

  /// Lets the loop call the server behind its events from now on.
  private func joinLoop() {
    guard !isOnLoop else { return }
    isOnLoop = true
    announced.server = self
    loop.addObserver(announced)
  }

  /// How many connections are open.
  package var connectionCount: Int { connections.count }
}
