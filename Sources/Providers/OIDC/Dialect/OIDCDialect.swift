package import BrokerProtocol

/// How an OpenID Connect provider is spoken to: where it is, what is asked of it, and where it differs from others.
package struct OIDCDialect: Sendable, Equatable {
  /// How the client makes itself known (RFC 6749, section 2.3.1).
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
  /// Addresses that are known without the metadata; they hold even if those say otherwise.
  package var endpoints: [OIDCEndpoint: String] = [:]
  /// Which of these addresses the configuration has given.
  package private(set) var givenEndpoints: Set<OIDCEndpoint> = []
  /// What sessions are good for.
  package var scopes: [String]
  /// How sessions are begun, the way to take first.
  package var methods: [LoginMethod]
  /// For whom access tokens are, by the provider's own parameter.
  package var audience: String?
  /// For whom access tokens are (RFC 8707).
  package var resource: String?
  /// What the profile adds to requests.
  package var parameters = OIDCParameters()
  /// Where the provider differs.
  package var quirks = OIDCQuirks()

  /// A provider that does as the specifications say.
  ///
  /// What needs credentials comes first in `methods`: it is taken only where they are given.
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
