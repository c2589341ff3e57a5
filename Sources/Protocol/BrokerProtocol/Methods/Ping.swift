/// Answers at once: whether the broker lives, and how quick it is.
public enum Ping: BrokerMethod {
  /// The parameters: none.
  public typealias Params = Empty
  /// The result: an empty object.
  public typealias Result = Empty

  /// The name on the wire.
  public static let name = "ping"
}
