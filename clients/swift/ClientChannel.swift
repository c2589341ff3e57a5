#if !hasFeature(Embedded)
import BrokerProtocol
import JSON
import LinuxSystem
import SecretMemory
import Synchronization

/// One connection that many tasks share: requests go out in the order in which they are made, answers find their
/// request by its id.
///
/// A sender writes to the socket without waiting; what the socket does not take at once is left to the one thread
/// that reads.
final class ClientChannel: Sendable {
  /// Handles the answer to a request; called on the reading thread.
  typealias Handler = @Sendable (Answer) -> Void

  /// A request that waits for its answer.
  private struct Waiting {
    let handler: Handler
    let deadline: Duration
  }

  private struct State {
    var lastID: Int64 = 0
    var waiting: [Int64: Waiting] = [:]
    /// When the reading thread looks for requests whose time is over.
    var nextCheck: Duration?
    /// Requests whose task was cancelled before they were sent.
    var cancelledEarly: Set<Int64> = []
    var subscriptions: [String: EventFeed] = [:]
    var output: [UInt8] = []
    var isClosing = false
    /// Whether it takes no more requests, because the broker is about to end.
    var isRetired = false
    /// Why there will be no more answers.
    var end: ClientError?
  }

  /// The connected socket.
  let socket: FileDescriptor
  /// The state directory that was looked into; nil for a socket that came from elsewhere.
  let stateDirectory: String?
  private let bell: EventCounter
  private let state = Mutex(State())

  /// Takes over a connected socket.
  init(socket: consuming FileDescriptor, stateDirectory: String? = nil) throws(ClientError) {
    self.socket = socket
    self.stateDirectory = stateDirectory
    do throws(Errno) { bell = try EventCounter() } catch { throw .noBroker(reason: error.description) }
  }

  /// Whether requests may be sent.
  var isOpen: Bool { state.withLock { state in state.end == nil && !state.isClosing && !state.isRetired } }

  /// Takes no more requests; the connection ends with the last answer.
  func retire() {
    let isOver = state.withLock { state in
      state.isRetired = true
      return state.waiting.isEmpty
    }
    if isOver { close() }
  }

  /// The id of the next request.
  func nextID() -> Int64 {
    state.withLock { state in
      state.lastID += 1
      return state.lastID
    }
  }

  /// Sends a request; `handler` is called exactly once, after the limit at the latest (nil: the usual one).
  func send(
    _ id: Int64, _ method: String, _ params: some JSONEncodable, within limit: Duration? = nil,
    _ handler: @escaping Handler
  ) {
    var message = OutgoingMessage.request(id: id, method: method, params: params)
    defer { wipe(&message) }
    let deadline = BootClock.now + (limit ?? AnswerLimit.usual(for: method, params))
    var isSooner = false
    let refusal: Answer? = state.withLock { state in
      if let end = state.end { return .unsent(end) }
      if state.cancelledEarly.remove(id) != nil { return .refusal(.cancelled) }
      if state.isRetired { return .unsent(.connectionLost) }
      state.waiting[id] = Waiting(handler: handler, deadline: deadline)
      isSooner = state.nextCheck.map { deadline < $0 } ?? true
      if isSooner { state.nextCheck = deadline }
      return nil
    }
    if let refusal { return handler(refusal) }
    write(message)
    // The reading thread sleeps until the time of the request that is due first.
    if isSooner { bell.raise() }
  }

  /// Cancels a request and tells the broker, whose answer is then ignored.
  func cancel(_ id: Int64) {
    let handler: Handler? = state.withLock { state in
      guard state.end == nil else { return nil }
      guard let waiting = state.waiting.removeValue(forKey: id) else {
        state.cancelledEarly.insert(id)
        return nil
      }
      return waiting.handler
    }
    guard let handler else { return }
    write(OutgoingMessage.cancel(id: id))
    handler(.refusal(.cancelled))
    closeIfOver()
  }

  /// Forgets that a request was cancelled before it was sent, or after it was answered.
  func forget(_ id: Int64) {
    state.withLock { state in _ = state.cancelledEarly.remove(id) }
  }

  /// Ends a connection that takes no more requests, behind its last answer.
  private func closeIfOver() {
    if state.withLock({ state in state.isRetired && state.waiting.isEmpty }) { close() }
  }

  /// Lets a subscription's events flow into a feed from now on; called on the reading thread, before the next message
  /// is looked at.
  func open(_ subscription: String, _ feed: EventFeed) {
    let isOver = state.withLock { state in
      guard state.end == nil else { return true }
      state.subscriptions[subscription] = feed
      return false
    }
    if isOver { feed.connectionEnded() }
  }

  /// Ends a subscription whose events are no longer read.
  func close(_ subscription: String) {
    let wasOpen = state.withLock { state in state.subscriptions.removeValue(forKey: subscription) != nil }
    guard wasOpen else { return }
    send(nextID(), Unsubscribe.name, Unsubscribe.Params(subscriptionID: subscription)) { _ in }
  }

  /// Ends the connection; the reading thread then ends too.
  func close() {
    state.withLock { state in state.isClosing = true }
    bell.raise()
  }

  private func write(_ message: [UInt8]) {
    let isBlocked = state.withLock { state in
      let wasEmpty = state.output.isEmpty
      state.output.append(contentsOf: message)
      return wasEmpty ? !flush(&state) : false
    }
    if isBlocked { bell.raise() }
  }

  /// - Returns: whether everything was taken.
  private func flush(_ state: inout State) -> Bool {
    var sent = 0
    while sent < state.output.count, case .bytes(let count) = socket.send(state.output, sent..<state.output.count) {
      sent += count
    }
    wipe(&state.output, 0..<sent)
    state.output.removeFirst(sent)
    // A socket that is broken shows it to the reader.
    return state.output.isEmpty
  }
}

extension ClientChannel {
  /// Reads until the connection ends; then every open call fails and every event sequence ends.
  ///
  /// Blocks its thread.
  func run() {
    var buffer = MessageBuffer()
    var poll = PollSet(count: 2)
    var end: ClientError?
    while end == nil {
      let isBlocked = state.withLock { state in !flush(&state) }
      poll.watch(0, socket.number, readable: true, writable: isBlocked)
      poll.watch(1, bell.descriptor.number, readable: true)
      let left = state.withLock { $0.nextCheck }.map { max($0 - BootClock.now, .zero) }
      do throws(Errno) { _ = try poll.wait(atMost: left) } catch { end = .connectionLost }
      if poll.isReady(1) { bell.clear() }
      endOverdue()
      if state.withLock({ $0.isClosing }) { end = .connectionLost }
      if end == nil, poll.isReady(0) { end = receive(&buffer) }
    }
    finish(end ?? .connectionLost)
  }

  /// Ends the waiting of requests whose time is over, and tells the broker.
  private func endOverdue() {
    let now = BootClock.now
    let overdue = state.withLock { state -> [(id: Int64, handler: Handler)] in
      guard let check = state.nextCheck, check <= now else { return [] }
      let overdue = state.waiting.filter { $0.value.deadline <= now }
      for id in overdue.keys { state.waiting[id] = nil }
      state.nextCheck = state.waiting.values.map { $0.deadline }.min()
      return overdue.map { (id: $0.key, handler: $0.value.handler) }
    }
    for (id, handler) in overdue {
      write(OutgoingMessage.cancel(id: id))
      handler(.refusal(.timedOut))
    }
    if !overdue.isEmpty { closeIfOver() }
  }

  /// Ends the sending direction and waits until the broker has ended the other one.
  func hangUp() {
    try? socket.finishSending()
    var rest = [UInt8](repeating: 0, count: 4096)
    while case .bytes = socket.read(into: &rest) {}
    wipe(&rest)
  }

  /// - Returns: why the connection has ended; nil if it has not.
  private func receive(_ buffer: inout MessageBuffer) -> ClientError? {
    switch buffer.fill(from: socket) {
    case .wouldBlock: return nil
    case .endOfStream, .failed: return .connectionLost
    case .bytes: break
    }
    do throws(ClientError) {
      while var message = try buffer.next() {
        try take(message)
        wipe(&message)
      }
      return nil
    } catch { return error }
  }

  private func take(_ message: [UInt8]) throws(ClientError) {
    switch try IncomingMessage(message) {
    case .response(let id, let answer):
      let waiting = state.withLock { state in state.waiting.removeValue(forKey: id) }
      waiting?.handler(answer)
      closeIfOver()
    case .event(let subscription, let params):
      let feed = state.withLock { state in state.subscriptions[subscription] }
      guard let feed else { return }
      do throws(JSONMismatch) {
        if let event = try BrokerEvent.read(from: params) { feed.take(event, byteCount: message.count) }
      } catch { throw .unexpectedAnswer("\(error.pointer) must be \(error.expected)") }
    case .other: break
    }
  }

  private func finish(_ end: ClientError) {
    let (waiting, feeds) = state.withLock { state in
      defer {
        state.waiting = [:]
        state.subscriptions = [:]
        wipe(&state.output)
      }
      state.end = end
      return (Array(state.waiting.values), Array(state.subscriptions.values))
    }
    for request in waiting { request.handler(.refusal(end)) }
    for feed in feeds { feed.connectionEnded() }
  }
}
#endif
