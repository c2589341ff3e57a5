/// Closes this connection; a broker that other clients share keeps running.
public enum Shutdown: BrokerMethod {
  /// The parameters: none.
  public typealias Params = Empty
  /// The result: an empty object.
  public typealias Result = Empty

  /// The name on the wire.
  public static let name = "shutdown"
}
