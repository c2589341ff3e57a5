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

  /// Who listens at the other end, if it said so.
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
    do throws(ClientError) { _ = try callOnce(Prove.self, Empty(), timeout) } catch {
      guard case .broker = error else { throw error }
      throw refusal.unproven(file.notTaken)
    }
    return true
  }

  /// Shows the broker that this process has its state directory, where it has, before a call that is not refused for want
  /// of that.
  package mutating func offerProof() {
    do throws(ClientError) { _ = try callOnce(Prove.self, Empty(), nil) } catch {
      guard case .broker(let refusal) = error, let asked = refusal.proof?.path,
        let file = try? StateProofFile(asked: asked, in: state, for: socket), (try? file.create()) == true
      else { return }
      defer { file.remove() }
      _ = try? callOnce(Prove.self, Empty(), nil)
    }
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
    do { try socket.sendAll(OutgoingMessage.cancel(id: id).span) } catch { throw .connectionLost }
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
    lastID += 1
    if method == Subscribe.name { isSubscribed = true }
    var request = OutgoingMessage.request(id: lastID, method: method, params: params)
    defer { wipe(&request) }
    do { try socket.sendAll(request.span) } catch { throw .connectionLost }
    return lastID
  }

  /// Messages are wiped after they have been read: an answer may hold a token.
  private mutating func awaitAnswer<Value>(
    _ id: Int64, _ limit: Duration, _ read: (Answer) throws(ClientError) -> Value
  ) throws(ClientError) -> Value {
    let deadline = BootClock.now + limit
    while true {
      var message = try receive(deadline)
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
    case .response, .other: break
    }
    return nil
  }

  private mutating func receive(_ deadline: Duration?) throws(ClientError) -> [UInt8] {
    while true {
      if let message = try buffer.next() { return message }
      try awaitInput(deadline)
      switch buffer.fill(from: socket) {
      case .bytes, .wouldBlock: continue
      case .endOfStream, .failed: throw .connectionLost
      }
    }
  }

  private mutating func awaitInput(_ deadline: Duration?) throws(ClientError) {
    poll.watch(0, socket.number, readable: true)
    let left = deadline.map { $0 - BootClock.now }
    if let left, left <= .zero { throw .timedOut }
    do throws(Errno) { _ = try poll.wait(atMost: left) } catch { throw .connectionLost }
    // What the broker has said already comes first.
    guard poll.isReady(0) || !poll.isReady(1) else { throw .cancelled }
  }
}
