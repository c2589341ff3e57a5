/// Ends this connection, never a broker that others share.
public enum Shutdown: BrokerMethod {
  /// What a request carries.
  public typealias Params = Empty
  /// What the answer carries.
  public typealias Result = Empty

  /// The name on the wire.
  public static let name = "shutdown"
}

extension Shutdown {
  public static var document: MethodDocument {
    MethodDocument(
      "Ends this connection, never a broker that others share.",
      examples: [
        .empty("the connection closes")
      ])
  }
}
