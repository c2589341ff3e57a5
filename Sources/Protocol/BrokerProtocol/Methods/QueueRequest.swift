public import JSON

/// Queues a change for an API: it is sent with the profile's token as soon as that is possible, also after a restart.
///
/// The requests of a profile are sent one after the other, in the order in which they were queued, each with its
/// Idempotency-Key: a server that honours it acts on each once, however often an answer was lost. The answer to this method
/// means that the request is durable. The same key and the same request again give the same id. A request belongs to the
/// user of the session: it is sent in a session of that user alone. Where it may go is said by requests.allow, now and
/// when it is sent.
///
/// - Throws: profile, session, accessDenied, consentDenied.
public enum QueueRequest: BrokerMethod {
  public static let name = "queueRequest"

  public struct Params: MethodParams, Equatable {
    /// The request.
    public var request: SendRequest.Params
    /// The value of the request's Idempotency-Key, by which the API knows it again: 1 to 255 visible ASCII characters.
    public var idempotencyKey: String

    /// A request with its key.
    public init(_ request: SendRequest.Params, idempotencyKey: String) {
      (self.request, self.idempotencyKey) = (request, idempotencyKey)
    }

    public static let blank = Params(.blank, idempotencyKey: "")

    public mutating func code(_ coder: inout some ObjectCoder) throws(JSONMismatch) {
      try request.code(&coder)
      try coder.required("idempotencyKey", &idempotencyKey, .text(atMost: 255))
    }
  }

  public struct Result: ObjectCodable, Equatable {
    /// The id of the request.
    public var requestID: String

    /// A result of these members.
    public init(requestID: String) { self.requestID = requestID }

    public static let blank = Result(requestID: "")

    public mutating func code(_ coder: inout some ObjectCoder) throws(JSONMismatch) {
      try coder.required("requestId", &requestID, .word)
    }
  }
}
