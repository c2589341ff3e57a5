import BrokerCore
import HTTP
import JSON

extension RevocationHabit {
  /// The documented extent of a revocation; nil for any other issuer.
  ///
  /// - Google revokes all that the user has granted to the client.
  /// - Auth0 does where the tenant's setting "Refresh Token Revocation Deletes Grant" is on, which it is in older ones.
  /// - Keycloak ended all of the user's sessions of the client up to 26.0.7 and 24.0.9 (keycloak/keycloak, issue 35486);
  ///   its issuers end with `/realms/` and a name, on whatever host.
  ///
  /// Where a provider ends less than that, a token which a login has replaced lives to its end; `revocation: "token"` in
  /// the profile says so.
  init?(ofIssuer issuer: String) {
    guard let url = try? HTTPURL(issuer) else { return nil }
    let isKnown =
      url.host == "accounts.google.com" || url.host == "auth0.com" || url.host.hasSuffix(".auth0.com")
      || url.target.includes("/realms/")
    guard isKnown else { return nil }
    self = .grant
  }
}
