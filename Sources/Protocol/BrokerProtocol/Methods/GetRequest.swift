public import JSON

/// Tells of a queued request, and gives the answer that it got.
///
/// - Throws: vaultLocked, vaultTampered, storeFailed.
public enum GetRequest: BrokerMethod {
  public static let name = "getRequest"

  public struct Params: MethodParams, Equatable {
    /// The id of the request.
    public var requestID: String

    /// Parameters of these members.
    public init(requestID: String) { self.requestID = requestID }

    public static let blank = Params(requestID: "")

    public mutating func code(_ coder: inout some ObjectCoder) throws(JSONMismatch) {
      try coder.required("requestId", &requestID, .word)
    }
  }

  public struct Result: ObjectCodable, Equatable {
    /// The request.
    public var request: QueuedRequestState
    /// The answer of the API, for as long as the request is listed; absent where there is none.
    public var answer: SendRequest.Result?

    /// A request and its answer.
    public init(request: QueuedRequestState, answer: SendRequest.Result? = nil) {
      (self.request, self.answer) = (request, answer)
    }

    public static let blank = Result(request: .blank)

    public mutating func code(_ coder: inout some ObjectCoder) throws(JSONMismatch) {
      try coder.required("request", &request)
      try coder.optional("answer", &answer)
    }
  }
}
