/// Returns the session's ID token (OpenID Connect Core, section 2), refreshing it first where it has expired.
///
/// The profile's allowIdToken must be set.
///
/// - Throws: profile, session, provider, accessDenied.
public enum GetIDToken: BrokerMethod {
  /// What a request carries.
  public typealias Params = ProfileParams
  /// What the answer carries.
  public typealias Result = IdentityToken

  /// The name on the wire.
  public static let name = "getIdToken"
}
