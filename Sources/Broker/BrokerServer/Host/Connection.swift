import BrokerCore
import LinuxSystem
import Transport

/// One client as the host holds it: its bytes, and its state.
///
/// A protocol is a subclass, which overrides the host's questions. Confined to the server's executor.
class Connection: EventHandler {
  /// The state of a connection.
  enum State: Equatable {
    /// It was accepted, and the server does not know it by its name yet.
    case opening
    /// Nothing of it waits, and it is at the beginning of a message: the next bytes are the next message, and once that
    /// is answered at once all is as before.
    case plain
    /// Something of it is on its way, or may be.
    case framed
    /// Complete messages may wait in its input.
    case heldUp(Hold)
    /// Nothing more is read of it.
    case draining(End, Hold?)
    /// It is no longer the server's.
    case closed
  }

  /// The reason why messages in the input wait.
  enum Hold {
    /// Until the client has read its answers.
    case output
    /// Until a request of the connection is answered: as many wait as may.
    case answers
    /// For the connection's next turn.
    case turn
  }

  /// Why nothing more is read, each reason stronger than the one before.
  enum End: Comparable {
    /// The client has closed its sending side; its requests are still answered.
    case inputEnded
    /// The client's input has ended by its own request: further bytes are not read.
    case told
    /// The connection ends when the waiting bytes are sent.
    case closing
  }

  // What every turn looks at stands together, so that it is in few lines of the processor's cache.
  /// The present state.
  final private(set) var state = State.opening
  /// How much it had to say lately.
  final var share = TurnShare()
  /// The connection's name.
  final let id: ClientID
  /// Its bytes.
  final let stream: any ClientStream
  /// Bytes of a message that is not complete yet, or whose turn has not come.
  final var input = InputBuffer()
  /// Bytes that are not sent yet.
  final var output = OutputQueue()
  /// Whether the next read looks for a descriptor that was passed with the bytes, which costs more: not behind answers from the
  /// cache, and never at a limited socket.
  final var mayBePassed: Bool
  /// The readiness that the loop was last asked to report.
  final var interest = (reading: true, writing: false)
  /// The principal of its requests.
  final var principal: Principal
  /// The entrance that it came by.
  final let entrance: Entrance
  /// The list to which the connection is added when bytes can be moved.
  final let announced: ReadyConnections
  /// The timers that close the connection if the message that it has begun does not end, and if it goes on reading
  /// nothing.
  final var timers: (message: TimerID?, stall: TimerID?)
  /// How much memory the ledger knows of.
  final var accountedBytes = 0
  /// When it was accepted.
  final let acceptedAt = BootClock.now
  /// The process behind it, beyond its credentials; nil until rules, or an administrator, ask.
  final var peer: PeerProcess?
  /// The name that its client gives itself; nil until it has introduced itself.
  final var tool: String?

  /// A connection without a request yet.
  init(
    _ id: ClientID, _ principal: Principal, _ stream: any ClientStream, _ entrance: Entrance,
    _ announced: ReadyConnections
  ) {
    self.id = id
    self.principal = principal
    self.stream = stream
    self.entrance = entrance
    self.announced = announced
    mayBePassed = entrance.takesDescriptors
  }

  final func ready(_ events: ReadyEvents) { announced.note(self, events, .both) }

  // MARK: The protocol's part

  /// Answers the messages at the beginning of a read, as far as that takes no time and needs no state.
  ///
  /// - Returns: how many bytes they have; whether these are all, and the answers are sent.
  func answerAtOnce(_ bytes: Span<UInt8>, _ server: isolated BrokerServer) -> (bytes: Int, isSent: Bool) { (0, false) }

  /// Receives complete messages, as many as the turn allows, and notes by ``hold(for:)`` why the others wait.
  ///
  /// - Returns: the rest: the beginning of a message that is not complete, is held up, or waits for the next turn.
  func take(_ bytes: Span<UInt8>, _ server: isolated BrokerServer) -> Range<Int> { 0..<0 }

  /// Adds the bytes that waited until the client has taken everything.
  func addMore(_ server: isolated BrokerServer) {}

  /// Tells the client that a limit closes the connection.
  func refuse(_ limit: Limit, _ server: isolated BrokerServer) {}

  /// Answers waiting requests that the server ends.
  func endAnswers(_ server: isolated BrokerServer) {}

  /// Forgets the work begun for the connection, which is closed.
  func forget(_ server: isolated BrokerServer) {}

  /// Whether bytes begin with a message, and nothing of an earlier one is kept.
  func isAtMessage(_ bytes: Span<UInt8>) -> Bool { false }

  /// Whether no answer is still to come.
  var isAnswered: Bool { true }

  /// Whether all messages without a request are sent, as far as they are sent to the end of a server that drains.
  func isTold(whileDraining isDraining: Bool) -> Bool { true }

  /// Whether a server that drains waits for the client's next message.
  var mayEndServer: Bool { false }

  /// How much memory the protocol has for it beside the buffers.
  var keptBytes: Int { 0 }
}

/// The events of a connection, and the transitions of its state.
extension Connection {
  /// Whether the server does not know it by its name yet.
  final var isOpening: Bool { if case .opening = state { true } else { false } }
  /// Whether the next message may be answered at once.
  final var isPlain: Bool { if case .plain = state { true } else { false } }
  /// Whether the connection is closed.
  final var isClosed: Bool { if case .closed = state { true } else { false } }

  /// Whether it ends when the waiting bytes are sent, or has ended.
  final var isClosing: Bool { ending == .closing || isClosed }
  /// Whether there is any sense in reading.
  final var mayRead: Bool { ending == nil && !isClosed }

  /// Why nothing more is read.
  final var ending: End? { if case .draining(let end, _) = state { end } else { nil } }

  /// The reason why messages in the input wait; nil where none may wait.
  final var hold: Hold? {
    switch state {
    case .heldUp(let hold): hold
    case .draining(_, let hold): hold
    case .opening, .plain, .framed, .closed: nil
    }
  }

  /// Whether its messages wait for something other than a turn: then it is not read.
  final var isStopped: Bool { hold == .output || hold == .answers }

  /// Whether nothing of it waits anywhere, and it is read like any other.
  final var isAtRest: Bool {
    mayRead && hold == nil && input.isEmpty && output.isEmpty && interest == (true, false)
  }

  /// Whether no answer or byte of it is outstanding.
  final var waitsForNothing: Bool { isAnswered && output.isEmpty && hold == nil }

  /// How much memory its buffers and its waiting requests take.
  final var heldBytes: Int { input.capacity + output.capacity + keptBytes }
}

extension Connection {
  /// Notes that the server knows it by its name.
  final func begin() { if isOpening { state = .framed } }

  /// Finds out whether it is plain, by the bytes read from it; one that is opening is answered like it.
  final func becomesPlain(_ bytes: Span<UInt8>) -> Bool {
    guard isAtRest, isAtMessage(bytes) else { return false }
    if !isOpening { state = .plain }
    return true
  }

  /// Notes that bytes of it are moved that may have to be kept.
  ///
  /// Each turn and each sending does, so that whatever is put into the output, or is to be put there, ends
  /// ``State/plain``.
  final func stir() { if isPlain { state = .framed } }

  /// Notes why messages in the input wait; nil where none waits.
  final func hold(for hold: Hold?) {
    switch state {
    case .draining(let end, _): state = .draining(end, hold)
    case .opening, .closed: break
    case .plain, .framed, .heldUp: state = hold.map(State.heldUp) ?? .framed
    }
  }

  /// Notes that nothing more is read; a weaker reason than the present one changes nothing.
  final func end(_ end: End) {
    switch state {
    case .draining(let old, let hold): state = .draining(max(old, end), hold)
    case .opening, .plain, .framed, .heldUp: state = .draining(end, hold)
    case .closed: break
    }
  }

  /// Notes that it is no longer the server's.
  final func close() { state = .closed }
}
