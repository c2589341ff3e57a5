/// The provider, client and address that a session belongs to: where any of them changes in the configuration, the
/// session is not sent anywhere.
package struct ProviderBinding: Sendable, Hashable {
  /// The provider's type, as in the configuration.
  package var type: String
  /// The issuer or base URL; empty for a provider without one.
  package var issuer: String
  /// The client's name at the provider (RFC 6749, section 2.2); empty where there is none.
  package var clientID: String

  package init(type: String, issuer: String = "", clientID: String = "") {
    self.type = type
    self.issuer = issuer
    self.clientID = clientID
  }

  /// The issuer or base URL alone; nil for a provider without one.
  ///
  /// Behind a blank, ``issuer`` also has the endpoints that the configuration itself names: no address has a blank.
  var address: String? {
    let end = issuer.utf8.firstIndex(of: UInt8(ascii: " ")) ?? issuer.endIndex
    return end == issuer.startIndex ? nil : String(issuer[..<end])
  }
}
