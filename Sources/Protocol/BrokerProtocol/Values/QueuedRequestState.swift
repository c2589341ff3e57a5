public import JSON

/// A queued request, as clients are told of it.
public struct QueuedRequestState: ObjectCodable, Equatable {
  /// The stage of a request: queued and sending end; completed and failed are ends.
  public enum Stage: String, Sendable, CaseIterable {
    /// It waits.
    case queued
    /// It is on its way.
    case sending
    /// The API has answered it, with whatever status.
    case completed
    /// It has ended without an answer.
    case failed
  }

  /// Its id.
  public var requestID: String
  /// Its profile.
  public var profile: ProfileName
  /// queued, sending, completed or failed.
  public var state: String
  /// The request method.
  public var method: String
  /// The address.
  public var url: String
  /// The value of its Idempotency-Key.
  public var idempotencyKey: String
  /// When it was queued.
  public var queuedAt: Timestamp
  /// How often it was sent.
  public var attempts: Int
  /// When it was first sent; absent before.
  public var firstAttemptAt: Timestamp?
  /// Why it waits: line for one before it, retry for its time, or why the queue is paused; absent where it does not wait.
  public var reason: String?
  /// When it has ended; absent before.
  public var endedAt: Timestamp?
  /// The status of the answer; absent where there is none.
  public var status: Int?
  /// Why it has failed; absent where it has not.
  public var kind: String?

  /// A request that was never sent.
  public init(
    requestID: String, profile: ProfileName, state: Stage, method: String, url: String, idempotencyKey: String,
    queuedAt: Timestamp
  ) {
    (self.requestID, self.profile, self.state) = (requestID, profile, state.rawValue)
    (self.method, self.url, self.idempotencyKey) = (method, url, idempotencyKey)
    (self.queuedAt, attempts) = (queuedAt, 0)
  }

  public static let blank = QueuedRequestState(
    requestID: "", profile: .default, state: .queued, method: "", url: "", idempotencyKey: "", queuedAt: .epoch)

  public mutating func code(_ coder: inout some ObjectCoder) throws(JSONMismatch) {
    try coder.required("requestId", &requestID, .word)
    try coder.required("profile", &profile)
    try coder.required("state", &state, .word(of: Stage.allCases.map { $0.rawValue }))
    try coder.required("method", &method)
    try coder.required("url", &url)
    try coder.required("idempotencyKey", &idempotencyKey)
    try coder.required("queuedAt", &queuedAt)
    try coder.required("attempts", &attempts, .count)
    try coder.optional("firstAttemptAt", &firstAttemptAt)
    try coder.optional("reason", &reason, .word(of: QueuePause.allCases.map { $0.rawValue } + ["line", "retry"]))
    try coder.optional("endedAt", &endedAt)
    try coder.optional("status", &status)
    try coder.optional("kind", &kind, .word(of: RequestFailure.allCases.map { $0.rawValue }))
  }
}

/// Why a queued request has ended without an answer.
public enum RequestFailure: String, Sendable, CaseIterable {
  /// It was sent, no answer came, and the API may not know its key any more: it may have been acted on.
  case outcomeUnknown
  /// The API has put it off until the end of its key's time.
  case rateLimited
  /// No rule of the profile allows it any more.
  case accessDenied
  /// The session cannot have the scopes that it wants.
  case insufficientScope
  /// It was taken out of the queue.
  case cancelled
  /// Its answer is malformed, or too long: it was probably acted on.
  case invalidResponse
  /// No request can be sent to its address.
  case invalidParams
  /// Its contents in the vault are not those that were written.
  case vaultTampered
}

/// Why the queue of a profile waits for its owner.
public enum QueuePause: String, Sendable, CaseIterable {
  /// There is no session: a login goes on with it.
  case loginRequired
  /// The session is another user's than the one who has queued the request, or of another provider.
  case otherUser
  /// The API refuses the token, also a new one.
  case unauthorized
}
