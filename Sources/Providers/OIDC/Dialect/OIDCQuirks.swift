package import BrokerProtocol

/// The deviations of one provider from the specifications, as values: no code asks which provider it is.
package struct OIDCQuirks: Sendable, Equatable {
  /// The rule by which the issuer of metadata and ID tokens is compared with the configured one.
  package enum IssuerRule: Sendable, Equatable {
    /// Byte for byte (OpenID Connect Discovery, section 4.3).
    case exact
    /// One issuer for each tenant, under a template: `…/{tenantid}/v2.0`, where the ID token's `tid` stands for the name.
    case tenant
  }

  /// The way to request a token for another audience.
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

  /// The rule by which issuers are compared.
  package var issuerRule = IssuerRule.exact
  /// The other issuers that its ID tokens may name.
  package var otherIssuers: [String] = []
  /// The way to request a token for another audience.
  package var target = Target.resource
  /// Whether a refresh may name the scopes of its token (RFC 6749, section 6).
  package var takesScopesAtRefresh = true
  /// Additional parameters of an authorization request, such as the one that requests a refresh token.
  package var authorizationParameters: [Parameter] = []
  /// The provider's own error names, each with the specifications' name (RFC 6749, section 5.2).
  package var errorNames: [String: String] = [:]
  /// The error names to which a profile gives a meaning.
  package var errorKinds: [String: ErrorKind] = [:]
  /// Whether scopes in a reply are separated by commas.
  package var separatesScopesByComma = false
  /// The member of the user's data that holds the provider's name for the account.
  package var userIDMember = "sub"
  /// Whether the end of a session is requested with the refresh token, by the client itself.
  package var endsSessionWithRefreshToken = false
  /// Whether the provider can make a user authenticate again although it knows them still (OpenID Connect Core, section
  /// 3.1.2.1, `prompt=login`).
  package var provesAgain = true
  /// Whether a second factor is asked for at the provider's `/mfa/…` endpoints.
  package var asksForSecondFactor = false
  /// Whether the metadata of OAuth (RFC 8414) are looked for before those of OpenID Connect, as clients of the Model Context
  /// Protocol do.
  package var readsOAuthFirst = false
  /// Whether no login begins in a browser unless the provider announces the proof of its code (RFC 7636).
  package var needsProof = false

  /// A provider that does as the specifications say.
  package init() {}
}
