/// Forgets the vault's keys and every token until ``Unlock``.
public enum Lock: BrokerMethod {
  /// What a request carries.
  public typealias Params = Empty
  /// What the answer carries.
  public typealias Result = Empty

  /// The name on the wire.
  public static let name = "lock"
}
