public import JSONRPC

/// Ends a subscription.
public enum Unsubscribe: BrokerMethod {
  /// The name on the wire.
  public static let name = "unsubscribe"

  /// What the answer carries.
  public typealias Result = Empty

  /// What a request carries.
  public struct Params: MethodParams, Equatable {
    /// The names of all parameters.
    public static let memberNames = ["subscriptionId"]

    /// The subscription.
    public var subscriptionID: String

    /// Params with the members that a caller gives.
    public init(subscriptionID: String) {
      self.subscriptionID = subscriptionID
    }

    /// Writes the members that are set.
    public func encode(to writer: inout JSONWriter) {
      writer.object { writer in
        writer.member("subscriptionId", subscriptionID)
      }
    }

    /// Reads the members.
    public init(from node: JSONNode) throws(JSONMismatch) {
      subscriptionID = try node.required("subscriptionId").word()
    }
  }
}
