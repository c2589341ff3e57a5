import BrokerCore
import HTTP

/// The binding of sessions to the addresses that their tokens go to.
extension OIDCProvider {
  /// The endpoints that get a session's tokens, besides the token endpoint.
  private static let readers: [OIDCEndpoint] = [.revocation, .userinfo, .endSession]

  /// The binding of sessions: the type, the issuer, the client's name, and the addresses that the configuration itself
  /// sends tokens to.
  ///
  /// Addresses in the issuer's metadata are the issuer's word. One that the configuration names is not: so a given token
  /// endpoint is a part of the binding as it is, and other given endpoints are by their server, where that is not the
  /// issuer's. No URL has a space in it, so the text of a binding without given endpoints is the issuer's.
  ///
  /// - Throws: `HTTPFailure.invalidURL` for an address that is not called.
  static func binding(_ configuration: OIDCProfileConfiguration) throws(HTTPFailure) -> ProviderBinding {
    let dialect = configuration.dialect
    let own = try HTTPURL(dialect.issuer).origin
    var place = dialect.issuer
    if let token = try given(.token, dialect) {
      place += " \(OIDCEndpoint.token.rawValue)=\(token.origin)\(token.target)"
    }
    for endpoint in readers {
      guard let url = try given(endpoint, dialect), url.origin != own else { continue }
      place += " \(endpoint.rawValue)=\(url.origin)"
    }
    // Tokens of another grant, for another subject or another audience, are another session's.
    if let grant = dialect.grant { place += " grant=\(grant.mark(dialect))" }
    return ProviderBinding(type: dialect.type, issuer: place, clientID: configuration.clientID)
  }

  private static func given(_ endpoint: OIDCEndpoint, _ dialect: OIDCDialect) throws(HTTPFailure) -> HTTPURL? {
    guard dialect.givenEndpoints.contains(endpoint), let text = dialect.endpoints[endpoint] else { return nil }
    return try HTTPURL(text)
  }
}
