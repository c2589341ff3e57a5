import BrokerCore
import BrokerProtocol
import HTTP
import HTTPMessage
import LinuxSystem
import ProviderKit
import SecretMemory
import Synchronization

/// One connection to a door, on a thread of its own: one request after the other.
struct DoorConnection: ~Copyable {
  /// How long a connection is kept without a request.
  private static let idleTime = Duration.seconds(75)
  /// How long a connection keeps what it has for the next request: clients whose requests follow each other send one sooner.
  private static let handTime = Duration.milliseconds(100)
  /// How long a head may take from its first byte on: a client that sends it a byte at a time keeps no thread.
  private static let headTime = Duration.seconds(20)
  /// How long a body that is held may pause.
  private static let bodyTime = Duration.seconds(30)
  /// How long it may take at all: the token that it is sent with was lent before.
  private static let holdTime = Duration.seconds(60)
  /// How many bytes a head may have.
  private static let longestHead = 1 << 16

  private let door: Door
  private var client: DoorClient
  private var echo: TokenEcho?
  private var loan: LoanMemory.Hand?
  private let lane: KeptLane
  /// The reader of heads, which is one for all requests: it takes the memory of the longest head at once.
  private var reader = RequestHead(longest: Self.longestHead)

  /// Takes a connection over.
  init(_ descriptor: consuming FileDescriptor, of door: Door) {
    self.door = door
    client = DoorClient(descriptor, to: door.settings, closing: door.closing)
    loan = door.means.memory.map { LoanMemory.Hand($0) }
    lane = KeptLane(of: door.lanes)
  }

  /// Serves requests until the client ends the connection, or the door is closed.
  mutating func serve() {
    while !door.isClosed {
      do throws(DoorRefusal) {
        guard try serveNext() else { return }
      } catch {
        if !error.wasForwarded { door.note(isForwarded: false) }
        guard client.write(error.bytes), !error.ends else { return client.linger() }
      }
    }
  }

  /// Serves the next request.
  ///
  /// - Returns: whether another one may follow.
  /// - Throws: why it is not forwarded.
  private mutating func serveNext() throws(DoorRefusal) -> Bool {
    var head = RequestHead(longest: Self.longestHead)
    swap(&head, &reader)
    defer {
      head.wipe()
      swap(&head, &reader)
    }
    guard try read(&head) else { return false }
    var keepsConnection = false
    do throws(DoorRefusal) {
      let request = try DoorRequest(head, at: door.settings)
      keepsConnection = request.keepsConnection
      return try forward(request)
    } catch {
      var refusal = error
      if !keepsConnection { refusal.ends = true }
      refusal.hasNoBody = head.method == "HEAD"
      throw refusal
    }
  }

  /// Forwards a request, and passes its answer on.
  private mutating func forward(_ request: DoorRequest) throws(DoorRefusal) -> Bool {
    let demand = LoanDemand(
      profile: door.settings.profile, method: request.method, address: request.address, isStreamed: !request.isHeld)
    let hasBody = request.body != .length(0)
    var loan = try lend(demand, ends: hasBody)
    if request.awaitsLeave { _ = client.write(Array("HTTP/1.1 100 Continue\r\n\r\n".utf8)) }
    let held = try request.isHeld ? hold(request.body) : nil
    door.note(isForwarded: true)
    var outcome = try send(request, held, loan, passesUnauthorized: !request.isHeld)
    if case .wantsNonce(let nonce) = outcome, request.isHeld {
      outcome = try send(request, held, loan, nonce, passesUnauthorized: false)
    }
    if case .unauthorized(let challenge) = outcome, request.isHeld {
      do throws(DoorRefusal) { loan = try lend(demand.replacing(loan.token, challenge), ends: false) } catch {
        // Where no other token can be had, the server's own answer is what is passed on: it is asked for once more.
        guard door.settings.passesUnauthorized else { throw error }
      }
      outcome = try send(request, held, loan, passesUnauthorized: true)
    }
    switch outcome {
    case .done: return request.keepsConnection
    case .over: return false
    case .unauthorized, .wantsNonce:
      var error = BrokerError(
        .providerRejected, "\(door.settings.origin.text) refuses the token, also a new one.",
        profile: door.settings.profile)
      error.nextAction = .login
      throw DoorRefusal(error, ends: !request.isHeld, wasForwarded: true)
    case .malformed: throw .malformed("The body is malformed.", wasForwarded: true)
    case .failed(let failure):
      throw DoorRefusal(Self.error(failure, door.settings), ends: !request.isHeld, wasForwarded: true)
    }
  }

  private static func error(_ failure: HTTPFailure, _ door: DoorSettings) -> BrokerError {
    let kind = ErrorKind(failure)
    let sentence =
      failure.requestMayHaveArrived
      ? "The answer of \(door.origin.text) was lost: whether the request was acted on is not known."
      : "\(door.origin.text) cannot be reached, or its certificate cannot be trusted (\(kind.rawValue))."
    return BrokerError(kind, sentence, profile: door.profile)
  }

  // MARK: Reading

  /// Reads a head; false where the client has ended the connection, or sends nothing any more.
  private mutating func read(_ head: inout RequestHead) throws(DoorRefusal) -> Bool {
    var deadline = BootClock.now + Self.idleTime
    var hasBegun = false
    while true {
      if client.input.isEmpty {
        let hasCome = !hasBegun && client.receive(until: BootClock.now + Self.handTime)
        if !hasBegun, !hasCome { rest(&head) }
        guard hasCome || client.receive(until: deadline) else {
          guard hasBegun, !client.hasEnded, !door.isClosed else { return false }
          throw .malformed("The head of the request did not come in time.", status: 408)
        }
      }
      if !hasBegun { (hasBegun, deadline) = (true, BootClock.now + Self.headTime) }
      switch head.read(client.input.span) {
      case .incomplete: client.input = []
      case .complete(let count):
        client.input.removeFirst(count)
        return true
      case .refused(let status):
        throw .malformed("The request is none that has one meaning alone (RFC 9112).", status: status)
      }
    }
  }

  /// Releases what is kept between requests: others may use it, and no token stays with a connection that rests.
  private mutating func rest(_ head: inout RequestHead) {
    lane.release()
    loan?.clear()
    echo = nil
    head = RequestHead(longest: Self.longestHead)
    client.rest()
  }

  /// Reads a body that is held.
  private mutating func hold(_ framing: BodyFraming) throws(DoorRefusal) -> [UInt8] {
    var reader = BodyReader(framing, longestLine: 0)
    var body: [UInt8] = []
    let end = BootClock.now + Self.holdTime
    while true {
      var position = 0
      let event = reader.next(in: client.input.span, from: &position)
      if case .data(let range)? = event { body += client.input[range] }
      client.input.removeFirst(position)
      switch event {
      case .data?: break
      case .end?: return body
      case .malformed?: throw .malformed("The body is malformed.")
      case nil:
        guard client.receive(until: min(end, BootClock.now + Self.bodyTime)) else {
          throw .malformed("The body did not come in time.", status: 408)
        }
      }
    }
  }

  // MARK: Sending

  /// The token of one request; where the broker is to be asked, the thread waits meanwhile.
  private mutating func lend(_ demand: LoanDemand, ends: Bool) throws(DoorRefusal) -> LentToken {
    if let token = loan?.lend(demand) { return token }
    let answer: LoanAnswer
    do throws(Errno) { answer = try LoanAnswer() } catch {
      throw DoorRefusal(BrokerError(.overloaded), ends: true)
    }
    let lend = door.means.lend
    Task(executorPreference: TaskThread.shared) { answer.end(await lend(demand)) }
    switch answer.wait(unlessReadable: door.closing) {
    case .success(let token)?: return token
    case .failure(let error)?: throw DoorRefusal(error, ends: ends)
    case nil: throw DoorRefusal(BrokerError(.shuttingDown), ends: true)
    }
  }

  /// Sends a request, and passes its answer on; an answer 401 only where it is the last, and the door passes such on.
  private mutating func send(
    _ request: DoorRequest, _ held: [UInt8]?, _ loan: LentToken, _ nonce: String? = nil, passesUnauthorized: Bool
  ) throws(DoorRefusal) -> DoorTransfer.Outcome {
    var transfer: DoorTransfer
    do throws(ProviderFailure) {
      transfer = try DoorTransfer(request, held, loan, nonce, door.means.transport)
    } catch { throw DoorRefusal(BrokerError(error, profile: door.settings.profile), ends: true) }
    let echo = echo(of: loan.token.value)
    return transfer.run(
      &client, on: lane, without: echo.echo,
      passesUnauthorized: passesUnauthorized && door.settings.passesUnauthorized)
  }

  /// Removes a token from answers; it is made once for each token.
  private mutating func echo(of token: Secret) -> TokenEcho {
    if let echo, echo.token == token { return echo }
    let new = TokenEcho(of: token)
    echo = new
    return new
  }
}

/// The token that was sent last, and what removes it from answers.
private final class TokenEcho {
  let token: Secret
  let echo: SecretEcho

  init(of token: Secret) {
    self.token = token
    echo = SecretEcho(of: token)
  }
}

/// The answer of the broker, for which a thread waits.
private final class LoanAnswer: Sendable {
  private let answer = Mutex<Result<LentToken, BrokerError>?>(nil)
  private let bell: EventCounter

  init() throws(Errno) { bell = try EventCounter() }

  func end(_ result: Result<LentToken, BrokerError>) {
    answer.withLock { $0 = result }
    bell.raise()
  }

  /// Waits for the answer; nil where a descriptor is readable before.
  func wait(unlessReadable closing: Int32) -> Result<LentToken, BrokerError>? {
    var poll = PollSet(count: 2)
    poll.watch(0, bell.descriptor.number, readable: true)
    poll.watch(1, closing, readable: true)
    while true {
      let isWoken = (try? poll.wait()) != nil
      if let answer = answer.withLock({ $0 }) { return answer }
      if isWoken, poll.isReady(1) { return nil }
    }
  }
}
