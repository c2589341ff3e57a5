package import BrokerProtocol

/// The dialect of an OpenID Connect provider: its addresses, the requests to it, and its deviations.
package struct OIDCDialect: Sendable, Equatable {
  /// The client authentication (RFC 6749, section 2.3.1; RFC 7521, section 4.2).
  package enum ClientAuthentication: String, Sendable, CaseIterable {
    /// By HTTP Basic, id and secret form-encoded first.
    case basic
    /// By `client_id` and `client_secret` in the body.
    case post
    /// By its name alone: a public client.
    case none
    /// By an assertion that it signs with its own key (OpenID Connect Core, section 9).
    case privateKeyJWT = "privateKeyJwt"
    /// By an assertion of another party, which `clientAssertion` names.
    case assertion

    /// The methods that `clientAuth` can name.
    package static let allCases: [Self] = [.basic, .post, .none, .privateKeyJWT]
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
  /// The grant by which tokens are requested without a login; nil where someone logs in.
  package var grant: MachineGrant?
  /// Whether the parameters of browser logins are pushed to the provider (RFC 9126) although it does not require that.
  package var pushesAuthorization = false
  /// Whether tokens are bound to a key of their session (RFC 9449).
  package var bindsTokens = false
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
