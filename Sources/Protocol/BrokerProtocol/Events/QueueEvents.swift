public import JSON

/// The API has answered a queued request, with whatever status.
public struct RequestCompletedEvent: ObjectCodable, Equatable {
  /// The id of the request.
  public var requestID: String
  /// The HTTP status.
  public var status: Int

  /// An answer with this status.
  public init(requestID: String, status: Int) { (self.requestID, self.status) = (requestID, status) }

  public static let blank = RequestCompletedEvent(requestID: "", status: 0)

  public mutating func code(_ coder: inout some ObjectCoder) throws(JSONMismatch) {
    try coder.required("requestId", &requestID, .word)
    try coder.required("status", &status)
  }
}

/// A queued request has ended without an answer.
public struct RequestFailedEvent: ObjectCodable, Equatable {
  /// The id of the request.
  public var requestID: String
  /// Why: outcomeUnknown, rateLimited, accessDenied, insufficientScope, cancelled, invalidResponse, invalidParams or
  /// vaultTampered.
  public var kind: String

  /// A failure of this kind.
  public init(requestID: String, kind: RequestFailure) { (self.requestID, self.kind) = (requestID, kind.rawValue) }

  public static let blank = RequestFailedEvent(requestID: "", kind: .cancelled)

  public mutating func code(_ coder: inout some ObjectCoder) throws(JSONMismatch) {
    try coder.required("requestId", &requestID, .word)
    try coder.required("kind", &kind, .word)
  }
}

/// The queue of a profile waits for its owner.
public struct QueuePausedEvent: ObjectCodable, Equatable {
  /// The id of the request that is the next one.
  public var requestID: String
  /// Why: loginRequired, otherUser or unauthorized.
  public var reason: String

  /// A pause for this reason.
  public init(requestID: String, reason: QueuePause) { (self.requestID, self.reason) = (requestID, reason.rawValue) }

  public static let blank = QueuePausedEvent(requestID: "", reason: .loginRequired)

  public mutating func code(_ coder: inout some ObjectCoder) throws(JSONMismatch) {
    try coder.required("requestId", &requestID, .word)
    try coder.required("reason", &reason, .word)
  }
}
