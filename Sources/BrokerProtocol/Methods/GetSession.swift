/// Tells where a profile's session stands.
public enum GetSession: BrokerMethod {
  /// What a request carries.
  public typealias Params = ProfileParams
  /// What the answer carries.
  public typealias Result = Session

  /// The name on the wire.
  public static let name = "getSession"
}
