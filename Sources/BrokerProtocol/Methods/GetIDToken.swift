/// Gives the session's ID token, which tells others who the user is; refreshing it first where it has ended.
public enum GetIDToken: BrokerMethod {
  /// What a request carries.
  public typealias Params = ProfileParams
  /// What the answer carries.
  public typealias Result = IdentityToken

  /// The name on the wire.
  public static let name = "getIdToken"
}
