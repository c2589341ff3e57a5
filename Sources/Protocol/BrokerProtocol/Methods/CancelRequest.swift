public import JSON

/// Takes a request out of the queue.
///
/// One that is being sent is not sent again, and its answer is still awaited. One that was sent before, without an answer, may
/// have been acted on.
///
/// - Throws: vaultLocked, storeFailed.
public enum CancelRequest: BrokerMethod {
  public static let name = "cancelRequest"
  public typealias Params = GetRequest.Params

  public struct Result: ObjectCodable, Equatable {
    /// The request as it is now.
    public var request: QueuedRequestState

    /// A result of these members.
    public init(request: QueuedRequestState) { self.request = request }

    public static let blank = Result(request: .blank)

    public mutating func code(_ coder: inout some ObjectCoder) throws(JSONMismatch) {
      try coder.required("request", &request)
    }
  }
}
