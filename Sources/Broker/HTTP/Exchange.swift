import HTTPMessage
import LinuxSystem
import SecretMemory
import Synchronization

/// One request on its way to a response, or one mail, shared by the task that waits for it and the client's thread.
final class Exchange: Sendable {
  /// The work of an exchange.
  enum Work: Sendable {
    /// To send a request, with or without credentials, and to get a response.
    case request(HTTPRequest, Authorization)
    /// To hand a mail over.
    case mail(Mail)
  }

  /// The streamed bodies of a request and its response.
  struct Stream: Sendable {
    /// The request's body.
    let upload: HTTPUpload?
    /// The sink of the response's body.
    let sink: any ResponseSink & Sendable
  }

  /// The work.
  let work: Work
  /// The streamed bodies; nil where both are held in memory as a whole.
  let stream: Stream?
  /// The server that takes turns: scheme, host and port.
  let server: String
  /// The server certificates that are accepted.
  let policy: TLSPolicy
  /// How long the answer may take, from when it is sent; of a stream, how long nothing may move.
  let allowed: Duration
  /// The uptime by which its first byte must leave; nil where it may leave at any time.
  let latestSending = SendingDeadline.uptime
  private let cancelled = Atomic(false)
  private let resumed = Atomic(false)
  private let waiting = Mutex(Waiting())

  private struct Waiting {
    var task: CheckedContinuation<Void, Never>?
    var result: Result<HTTPResponse, HTTPFailure>?
  }

  /// Prepares an exchange.
  init(_ work: Work, _ policy: TLSPolicy, allowed: Duration, stream: Stream? = nil) {
    self.work = work
    self.stream = stream
    server =
      switch work {
      case .request(let request, _): request.url.origin
      case .mail(let mail): mail.server.text
      }
    self.policy = policy
    self.allowed = allowed
  }

  /// How long it waits before it takes its turn.
  var pause: Duration {
    switch work {
    case .request(let request, _): request.pause
    case .mail: .zero
    }
  }

  /// How much is sent at once.
  var byteCount: Int {
    switch work {
    case .request(let request, _): request.body?.bytes.byteCount ?? 0
    case .mail(let mail): mail.content.byteCount
    }
  }

  /// Whether its answer comes only once: such an exchange goes on to its end once it is sent, unless it is a stream.
  var isSpending: Bool {
    switch work {
    case .request(let request, _): request.isSpending
    case .mail: false
    }
  }

  /// Whether a reply whose end is missing counts.
  func isWhole(_ response: HTTPResponse) -> Bool {
    switch work {
    case .request(let request, _): request.isSpending && request.isWhole?(response) == true
    case .mail: false
    }
  }

  /// The most times that it is given to a connection (see `HTTPRequest.Delivery`): a mail once, or it might arrive
  /// twice.
  var mostSendings: Int {
    switch work {
    case .request(let request, _): request.delivery == .once || stream?.upload != nil ? 1 : 2
    case .mail: 1
    }
  }

  /// Whether the caller has cancelled the exchange: one that is not sent, or only reads, ends then.
  var isCancelled: Bool { cancelled.load(ordering: .relaxed) }

  /// Why nothing of it may be sent any more: see ``isCancelled`` and ``latestSending``; nil where it may.
  var refusal: HTTPFailure? {
    if isCancelled { return .cancelled(sent: false) }
    guard let latestSending, BootClock.now > latestSending else { return nil }
    return .timedOut(sent: false)
  }

  /// Cancels the exchange.
  func cancel() { cancelled.store(true, ordering: .relaxed) }

  /// Says that its source or its sink may be called again.
  func resume() { resumed.store(true, ordering: .relaxed) }

  /// Whether a resumption was requested since the last call.
  func takeResumption() -> Bool { resumed.exchange(false, ordering: .relaxed) }

  /// Keeps what `finish` resumes.
  func suspend(_ continuation: CheckedContinuation<Void, Never>) {
    waiting.withLock { $0.task = continuation }
  }

  /// The outcome; nil before the request has ended.
  ///
  /// It passes by way of the lock, not of the continuation, since the thread sanitizer sees into the one only.
  var result: Result<HTTPResponse, HTTPFailure>? { waiting.withLock { $0.result } }

  /// Gives the waiting task its result; only the first one counts.
  func finish(_ result: Result<HTTPResponse, HTTPFailure>) {
    let task = waiting.withLock { waiting in
      if waiting.result == nil { waiting.result = result }
      defer { waiting.task = nil }
      return waiting.task
    }
    task?.resume()
  }
}
