/// Ends the owner of the state directory in order.
public enum StopBroker: BrokerMethod {
  /// What a request carries.
  public typealias Params = Empty
  /// What the answer carries.
  public typealias Result = Empty

  /// The name on the wire.
  public static let name = "stopBroker"
}
