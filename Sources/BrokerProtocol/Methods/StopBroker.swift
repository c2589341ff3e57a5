/// Ends the owner of the state directory in order.
public enum StopBroker: BrokerMethod {
  /// What a request carries.
  public typealias Params = Empty
  /// What the answer carries.
  public typealias Result = Empty

  /// The name on the wire.
  public static let name = "stopBroker"
}

extension StopBroker {
  public static var document: MethodDocument {
    MethodDocument(
      "Ends the owner of the state directory in order.",
      errors: [.accessDenied],
      examples: [
        .empty("the broker ends")
      ])
  }
}
