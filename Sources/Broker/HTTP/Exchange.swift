import LinuxSystem
import Synchronization

/// One request on its way to a response, or one mail, shared by the task that waits for it and the client's thread.
final class Exchange: Sendable {
  /// What is to be done.
  enum Work: Sendable {
    /// To send a request, with or without credentials, and to get a response.
    case request(HTTPRequest, Authorization)
    /// To hand a mail over.
    case mail(Mail)
  }

  /// What is to be done.
  let work: Work
  /// Who may answer.
  let policy: TLSPolicy
  /// How long the answer may take, from when it is sent.
  let allowed: Duration
  private let cancelled = Atomic(false)
  private let waiting = Mutex(Waiting())

  private struct Waiting {
    var task: CheckedContinuation<Void, Never>?
    var result: Result<HTTPResponse, HTTPFailure>?
  }

  /// Prepares an exchange.
  init(_ work: Work, _ policy: TLSPolicy, allowed: Duration) {
    self.work = work
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

  /// Whether it goes on to its end once it is sent: its answer comes only once.
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

  /// The server that takes turns: scheme, host and port.
  var server: String {
    switch work {
    case .request(let request, _): request.url.origin
    case .mail(let mail): mail.server.text
    }
  }

  /// How often it may be given to a connection (see `HTTPRequest.Delivery`): a mail once, or it might arrive twice.
  var mostSendings: Int {
    switch work {
    case .request(let request, _): request.delivery == .once ? 1 : 2
    case .mail: 1
    }
  }

  /// Whether the caller has cancelled the exchange: before it is sent, or where it only reads, it ends then.
  var isCancelled: Bool { cancelled.load(ordering: .relaxed) }

  /// Cancels the exchange.
  func cancel() { cancelled.store(true, ordering: .relaxed) }

  /// Keeps what `finish` resumes.
  func suspend(_ continuation: CheckedContinuation<Void, Never>) {
    waiting.withLock { $0.task = continuation }
  }

  /// What the request came to; nil before it has.
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
