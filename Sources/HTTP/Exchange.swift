import LinuxSystem
import Synchronization

/// One request on its way to a response, shared by the task that waits for it and the client's thread.
final class Exchange: Sendable {
  /// What is asked.
  let request: HTTPRequest
  /// As whom.
  let authorization: Authorization
  /// Who may answer.
  let policy: TLSPolicy
  /// When it is too late, on the clock of `BootClock`.
  let deadline: Duration
  private let cancelled = Atomic(false)
  private let waiting = Mutex(Waiting())

  private struct Waiting {
    var task: CheckedContinuation<Void, Never>?
    var result: Result<HTTPResponse, HTTPFailure>?
  }

  /// Prepares an exchange.
  init(_ request: HTTPRequest, _ authorization: Authorization, _ policy: TLSPolicy, deadline: Duration) {
    self.request = request
    self.authorization = authorization
    self.policy = policy
    self.deadline = deadline
  }

  /// Whether the caller has cancelled the exchange.
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
