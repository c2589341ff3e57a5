public import BrokerProtocol
package import ClientSocket
package import JSON
package import LinuxSystem
import SecretMemory
package import StateDirectory

/// A connection for programs that ask, wait and go: one request at a time, no thread, no task.
///
/// Where a program does anything else meanwhile, ``BrokerClient`` is right.
public struct BlockingConnection: ~Copyable {
  private let socket: FileDescriptor
  private var buffer = MessageBuffer()
  /// The socket, and what may interrupt the waiting.
  private var poll = PollSet(count: 2)
  private var lastID: Int64 = 0
  private var events = EarlyEvents()
  /// Whether events are kept at all: what was not subscribed to is not.
  private var isSubscribed = false
  /// Whether access to the state directory is shown with the next request, where this process has it.
  package var provesFirst = false
  /// The request that has shown it, and its file, until it is answered.
  private var proof: (id: Int64, file: StateProofFile)?

  /// The record of the broker at the other end, if it left one.
  package let owner: OwnerRecord?
  /// The process at the other end; nil where the kernel does not say.
  package var peer: Int32? { try? PeerCredentials(of: socket).pid }
  /// The state directory that was looked into; nil for a socket that came from elsewhere.
  private let state: String?

  /// Takes over a connection.
  package init(_ connection: consuming BrokerConnector.Connection) {
    owner = connection.owner
    state = connection.state
    socket = connection.socket()
  }

  /// Takes over a connected socket.
  package init(socket: consuming FileDescriptor) {
    owner = nil
    state = nil
    self.socket = socket
  }

  /// Calls a method and waits for its answer, as the public `call` does.
  ///
  /// - Throws: `broker` with the broker's own error, `connectionLost`, `timedOut`, `unexpectedAnswer`.
  package mutating func request<Method: BrokerMethod>(
    _ method: Method.Type, _ params: Method.Params, timeout: Duration? = nil
  ) throws(ClientError) -> Method.Result {
    do throws(ClientError) { return try callOnce(method, params, timeout) } catch {
      guard try prove(error, Method.name, params, timeout) else { throw error }
    }
    return try callOnce(method, params, timeout)
  }

  private mutating func callOnce<Method: BrokerMethod>(
    _ method: Method.Type, _ params: Method.Params, _ timeout: Duration?
  ) throws(ClientError) -> Method.Result {
    let id = try send(Method.name, params)
    let limit = timeout ?? AnswerLimit.usual(for: Method.name, params)
    return try awaitAnswer(id, limit) { answer throws(ClientError) in try answer.decoded(as: Method.Result.self) }
  }

  /// Shows the broker that this process has its state directory, where that is why a call was refused.
  ///
  /// - Returns: whether the call may be made again.
  /// - Throws: `broker` with what keeps it from being shown; `connectionLost`, `timedOut`.
  package mutating func prove(
    _ refusal: ClientError, _ method: String, _ params: some JSONEncodable, _ timeout: Duration?
  ) throws(ClientError) -> Bool {
    guard let asked = refusal.proofPath(for: method, params) else { return false }
    let file: StateProofFile
    do throws(StateProofFile.Refusal) {
      file = try StateProofFile(asked: asked, in: state, for: socket)
      guard try file.create() else { return false }
    } catch { throw refusal.unproven(error) }
    defer { file.remove() }
    do throws(ClientError) { _ = try callOnce(Prove.self, .init(), timeout) } catch {
      guard case .broker = error else { throw error }
      throw refusal.unproven(file.notTaken)
    }
    return true
  }

  /// The message that shows the broker that this process has its state directory; empty where it has not.
  ///
  /// The broker takes requests in order: what is sent behind it comes on an administrative connection.
  private mutating func firstProof() -> [UInt8] {
    guard provesFirst else { return [] }
    provesFirst = false
    guard let file = StateProofFile(in: state, for: socket), (try? file.create()) == true else { return [] }
    lastID += 1
    proof = (lastID, file)
    return OutgoingMessage.request(id: lastID, method: Prove.name, params: Prove.Params(name: file.name))
  }

  /// Removes the file of a proof that was answered, or never will be.
  private mutating func endProof() {
    proof?.file.remove()
    proof = nil
  }

  /// Calls a method by its name and returns the text of its result, which the caller wipes if it holds a secret.
  ///
  /// - Throws: as ``request(_:_:timeout:)``.
  package mutating func callForText(
    _ method: String, _ params: some JSONEncodable, timeout: Duration? = nil
  ) throws(ClientError) -> [UInt8] {
    do throws(ClientError) { return try textOnce(method, params, timeout) } catch {
      guard try prove(error, method, params, timeout) else { throw error }
    }
    return try textOnce(method, params, timeout)
  }

  private mutating func textOnce(
    _ method: String, _ params: some JSONEncodable, _ timeout: Duration?
  ) throws(ClientError) -> [UInt8] {
    let id = try send(method, params)
    return try awaitAnswer(id, timeout ?? AnswerLimit.usual(for: method, params)) { answer throws(ClientError) in
      let result = try answer.get()
      return Array(copying: result.text.span)
    }
  }

  /// Sends a request whose answer ``answer(to:as:timeout:unless:)`` waits for.
  ///
  /// - Returns: the name of the request.
  /// - Throws: `connectionLost`.
  package mutating func begin<Method: BrokerMethod>(
    _ method: Method.Type, _ params: Method.Params
  ) throws(ClientError) -> Int64 { try send(Method.name, params) }

  /// Waits for the answer to a request; may be asked again.
  ///
  /// - Parameters:
  ///   - id: the name of the request.
  ///   - method: its method.
  ///   - timeout: how long to wait.
  ///   - interruption: a descriptor; when it is readable, the waiting ends.
  /// - Returns: what the method gives.
  /// - Throws: as ``request(_:_:timeout:)``, and `cancelled` where it was interrupted.
  package mutating func answer<Method: BrokerMethod>(
    to id: Int64, as method: Method.Type, timeout: Duration, unless interruption: borrowing FileDescriptor
  ) throws(ClientError) -> Method.Result {
    poll.watch(1, interruption.number, readable: true)
    defer { poll.watch(1, -1) }
    return try awaitAnswer(id, timeout) { answer throws(ClientError) in try answer.decoded(as: Method.Result.self) }
  }

  /// Tells the broker that a request is not wanted any more (`$/cancelRequest`); it is answered all the same.
  ///
  /// - Throws: `connectionLost`.
  package mutating func cancel(_ id: Int64) throws(ClientError) {
    try send(OutgoingMessage.cancel(id: id))
  }

  /// Waits for the next event of a subscription that was made on this connection.
  ///
  /// - Parameter timeout: how long to wait; nil: as long as the connection lasts.
  /// - Returns: the event; one that this version does not know is passed over.
  /// - Throws: `connectionLost`, `timedOut`, `unexpectedAnswer`.
  public mutating func nextEvent(timeout: Duration? = nil) throws(ClientError) -> BrokerEvent {
    try nextEventWithText(timeout: timeout).event
  }

  /// Waits for the next event, or until a descriptor is readable.
  ///
  /// - Throws: as ``nextEvent(timeout:)``, and `cancelled` where it was interrupted.
  package mutating func nextEvent(
    timeout: Duration?, unless interruption: borrowing FileDescriptor
  ) throws(ClientError) -> BrokerEvent {
    poll.watch(1, interruption.number, readable: true)
    defer { poll.watch(1, -1) }
    return try nextEventWithText(timeout: timeout).event
  }

  /// The next event and the text of its notification's `params`.
  package mutating func nextEventWithText(
    timeout: Duration? = nil
  ) throws(ClientError) -> (event: BrokerEvent, text: [UInt8]) {
    let deadline = timeout.map { BootClock.now + $0 }
    while true {
      let message: [UInt8]
      if let early = events.next() { message = early } else { message = try receive(deadline) }
      guard case .event(_, let params) = try IncomingMessage(message) else { continue }
      do throws(JSONMismatch) {
        if let event = try BrokerEvent.read(from: params) { return (event, Array(params.text)) }
      } catch {
        throw .unexpectedAnswer("\(error.pointer) must be \(error.expected)")
      }
    }
  }

  /// Waits until the broker closes the connection; what it still says is passed over.
  package mutating func awaitEnd(timeout: Duration) throws(ClientError) {
    let deadline = BootClock.now + timeout
    do throws(ClientError) {
      while true { _ = try receive(deadline) }
    } catch {
      guard error == .connectionLost else { throw error }
    }
  }

  private mutating func send(_ method: String, _ params: some JSONEncodable) throws(ClientError) -> Int64 {
    let proof = firstProof()
    lastID += 1
    if method == Subscribe.name { isSubscribed = true }
    var request = OutgoingMessage.request(id: lastID, method: method, params: params, behind: proof)
    defer { wipe(&request) }
    try send(request)
    return lastID
  }

  private mutating func send(_ message: [UInt8]) throws(ClientError) {
    do throws(Errno) { try socket.sendAll(message.span) } catch {
      endProof()
      throw error == .again ? .unresponsive(pid: broker) : .connectionLost
    }
  }

  /// Messages are wiped after they have been read: an answer may hold a token.
  private mutating func awaitAnswer<Value>(
    _ id: Int64, _ limit: Duration, _ read: (Answer) throws(ClientError) -> Value
  ) throws(ClientError) -> Value {
    let now = BootClock.now
    let deadline = now + limit
    var pulse: Pulse? = Pulse(at: now)
    while true {
      var message = try receive(deadline, &pulse)
      let value = try take(message, id, read)
      if let value {
        wipe(&message)
        return value
      }
    }
  }

  private mutating func take<Value>(
    _ message: [UInt8], _ id: Int64, _ read: (Answer) throws(ClientError) -> Value
  ) throws(ClientError) -> Value? {
    switch try IncomingMessage(message) {
    case .response(id, let answer): return try read(answer)
    case .event(let subscription, let params) where isSubscribed: events.put(message, subscription, params)
    case .event: break
    case .response(let id, _):
      if id == proof?.id { endProof() }
    case .other: break
    }
    return nil
  }

  /// The process of the broker, where it is known that one answers here: a service manager's socket is there before its
  /// broker is.
  private var broker: Int32? {
    guard let peer, peer > 0 else { return nil }
    return peer == owner?.pid || ProcessIdentity.program(of: peer) == "authbrokerd" ? peer : nil
  }

  private mutating func receive(_ deadline: Duration?) throws(ClientError) -> [UInt8] {
    var pulse: Pulse?
    return try receive(deadline, &pulse)
  }

  // `pulse` is what is known of the broker's life; nil where it is not looked at.
  private mutating func receive(_ deadline: Duration?, _ pulse: inout Pulse?) throws(ClientError) -> [UInt8] {
    while true {
      if let message = try buffer.next() { return message }
      do throws(ClientError) { try awaitInput(deadline, &pulse) } catch {
        endProof()
        throw error
      }
      switch buffer.fill(from: socket) {
      case .bytes: pulse?.beat(at: BootClock.now)
      case .wouldBlock: continue
      case .endOfStream, .failed: throw .connectionLost
      }
    }
  }

  private mutating func awaitInput(_ deadline: Duration?, _ pulse: inout Pulse?) throws(ClientError) {
    poll.watch(0, socket.number, readable: true)
    let now = BootClock.now
    if let deadline, deadline <= now { throw .timedOut }
    switch pulse?.step(at: now, mayBeStarting: broker == nil) {
    case .ask: _ = try send(Ping.name, Empty())
    case .end: throw .unresponsive(pid: broker)
    case .wait, nil: break
    }
    var end = deadline
    if let due = pulse?.due { end = min(due, end ?? due) }
    do throws(Errno) { _ = try poll.wait(atMost: end.map { $0 - now }) } catch { throw .connectionLost }
    // What the broker has said already comes first.
    guard poll.isReady(0) || !poll.isReady(1) else { throw .cancelled }
  }
}
