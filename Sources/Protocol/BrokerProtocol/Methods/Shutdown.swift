/// Closes this connection; a broker that other clients share keeps running.
public enum Shutdown: BrokerMethod {
  /// What a request carries.
  public typealias Params = Empty
  /// What the answer carries.
  public typealias Result = Empty

  /// The name on the wire.
  public static let name = "shutdown"
}
