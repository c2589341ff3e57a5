/// Returns the session's ID token (OpenID Connect Core, section 2), refreshing it first where it has expired.
///
/// The profile's allowIdToken must be set.
///
/// - Throws: profile, session, provider, accessDenied, consentDenied.
public enum GetIDToken: BrokerMethod {
  /// The parameters: the profile.
  public typealias Params = ProfileParams
  /// The result: the ID token.
  public typealias Result = IdentityToken

  /// The name on the wire.
  public static let name = "getIdToken"
}
