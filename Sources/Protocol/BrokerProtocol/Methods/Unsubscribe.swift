public import JSON

/// Ends a subscription.
public enum Unsubscribe: BrokerMethod {
  public static let name = "unsubscribe"

  public typealias Result = Empty

  public struct Params: MethodParams, Equatable {
    /// The subscription.
    public var subscriptionID: String

    public init(subscriptionID: String) {
      self.subscriptionID = subscriptionID
    }

    public static let blank = Params(subscriptionID: "")

    public mutating func code(_ coder: inout some ObjectCoder) throws(JSONMismatch) {
      try coder.required("subscriptionId", &subscriptionID, .word)
    }
  }
}
