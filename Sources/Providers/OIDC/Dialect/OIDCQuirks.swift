package import BrokerProtocol

/// Where one provider differs from what the specifications say, as values: no code asks who a provider is.
package struct OIDCQuirks: Sendable, Equatable {
  /// How the issuer of metadata and ID tokens is compared with the configured one.
  package enum IssuerRule: Sendable, Equatable {
    /// Byte for byte (OpenID Connect Discovery, section 4.3).
    case exact
    /// One issuer for each tenant, under a template: `…/{tenantid}/v2.0`, where the ID token's `tid` stands for the name.
    case tenant
  }

  /// How a token for another audience is asked for.
  package enum Target: Sendable, Equatable {
    /// By `resource` (RFC 8707, section 2).
    case resource
    /// By `audience`.
    case audience
    /// Not at all: the scopes say it.
    case none
  }

  /// A field that an authorisation request has besides.
  package struct Parameter: Sendable, Equatable {
    /// Its name.
    package let name: String
    /// Its value.
    package let value: String

    /// A field.
    package init(_ name: String, _ value: String) {
      self.name = name
      self.value = value
    }
  }

  /// How issuers are compared.
  package var issuerRule = IssuerRule.exact
  /// How else the issuer may write itself in an ID token.
  package var otherIssuers: [String] = []
  /// How a token for another audience is asked for.
  package var target = Target.resource
  /// Whether a refresh may name the scopes of its token (RFC 6749, section 6).
  package var takesScopesAtRefresh = true
  /// What else an authorisation request says, such as that a refresh token is wanted.
  package var authorizationParameters: [Parameter] = []
  /// What the provider's own names of errors mean (RFC 6749, section 5.2).
  package var errorNames: [String: String] = [:]
  /// What a profile says that names of errors mean.
  package var errorKinds: [String: ErrorKind] = [:]
  /// Whether scopes in a reply are separated by commas.
  package var separatesScopesByComma = false
  /// Where the account's name at the provider is in what it tells of a user.
  package var userIDMember = "sub"
  /// Whether the end of a session is asked for with the refresh token, by the client itself.
  package var endsSessionWithRefreshToken = false
  /// Whether the provider can be made to have a user prove who they are although it knows them still (OpenID Connect Core,
  /// section 3.1.2.1, `prompt=login`).
  package var provesAnew = true
  /// Whether a second factor is asked for at the provider's `/mfa/…` endpoints.
  package var asksForSecondFactor = false

  /// A provider that does as the specifications say.
  package init() {}
}
