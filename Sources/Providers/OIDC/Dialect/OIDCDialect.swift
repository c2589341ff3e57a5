package import BrokerProtocol

/// The dialect of an OpenID Connect provider: its addresses, the requests to it, and its deviations.
package struct OIDCDialect: Sendable, Equatable {
  /// The client authentication (RFC 6749, section 2.3.1).
  package enum ClientAuthentication: String, Sendable, CaseIterable {
    /// By HTTP Basic, id and secret form-encoded first.
    case basic
    /// By `client_id` and `client_secret` in the body.
    case post
    /// By its name alone: a public client.
    case none
  }

  /// The type's name in the configuration.
  package var type: String
  /// The issuer, exactly as the provider writes it.
  package var issuer: String
  /// Whether the provider's metadata are read.
  package var usesDiscovery = true
  /// Addresses that are known without the metadata; they take precedence over those.
  package var endpoints: [OIDCEndpoint: String] = [:]
  /// The endpoints whose addresses the configuration gives.
  package private(set) var givenEndpoints: Set<OIDCEndpoint> = []
  /// The requested scopes.
  package var scopes: [String]
  /// The login methods, the preferred one first.
  package var methods: [LoginMethod]
  /// The audience of access tokens, for the provider's own parameter.
  package var audience: String?
  /// The audience of access tokens (RFC 8707).
  package var resource: String?
  /// The parameters that the profile adds to requests.
  package var parameters = OIDCParameters()
  /// The provider's deviations.
  package var quirks = OIDCQuirks()

  /// A provider without deviations from the specifications.
  ///
  /// Methods that need credentials come first in `methods`: they are taken only where the credentials are given.
  package init(
    type: String, issuer: String, scopes: [String] = ["openid"],
    methods: [LoginMethod] = [.password, .refreshToken, .browser, .deviceCode, .clientCredentials]
  ) {
    self.type = type
    self.issuer = issuer
    self.scopes = scopes
    self.methods = methods
  }

  /// Takes an address from the configuration, in place of any other.
  package mutating func give(_ address: String, for endpoint: OIDCEndpoint) {
    endpoints[endpoint] = address
    givenEndpoints.insert(endpoint)
  }
}
