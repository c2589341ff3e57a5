/// Stops the broker that owns the state directory.
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
      "Stops the broker that owns the state directory.",
      errors: [.accessDenied],
      examples: [
        .empty("the broker stops")
      ])
  }
}
