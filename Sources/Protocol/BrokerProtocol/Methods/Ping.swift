/// Answers at once: whether the broker lives, and how quick it is.
public enum Ping: BrokerMethod {
  /// What a request carries.
  public typealias Params = Empty
  /// What the answer carries.
  public typealias Result = Empty

  /// The name on the wire.
  public static let name = "ping"
}
