package import BrokerProtocol
package import SecretMemory

/// A provider whose sessions need no login: it requests their tokens by a grant that no person takes part in (RFC 6749,
/// section 4.4; RFC 7523, section 2.1; RFC 8693).
///
/// Nothing is spent by such a request, and each brings the tokens of a whole session, the first as any other.
package protocol GrantProvider: Sendable {
  /// The name of the grant, as in the configuration.
  var grantName: String { get }

  /// The field that carries its token where that is a secret of the configuration; nil where a server issues tokens.
  ///
  /// Such a token is never written down, revoked or logged out, and its source is asked again where the configuration is
  /// read again.
  var configuredField: ConfiguredField? { get }

  /// The tokens of other profiles that a request shows, in the order in which ``tokens(for:showing:boundTo:)`` takes them.
  var subjects: [SubjectReference] { get }

  /// Requests tokens.
  ///
  /// - Parameters:
  ///   - target: the scopes and the audience, where they are not those of the session.
  ///   - subjects: the tokens of ``subjects``.
  ///   - key: the session's key; nil for a session that has none, or that begins.
  /// - Returns: the tokens, which end no later than a subject that is no assertion, with a stand-in for the refresh token
  ///   that no server has issued.
  /// - Throws: no failure that ends a session: the next request may succeed.
  func tokens(
    for target: TokenTarget, showing subjects: [SubjectToken], boundTo key: ProofKey?
  ) async throws(ProviderFailure) -> TokenSet
}

extension GrantProvider {
  /// None: a server issues its tokens.
  package var configuredField: ConfiguredField? { nil }
}

/// The field of a request that carries a secret of the configuration (RFC 9110, section 5).
package struct ConfiguredField: Sendable, Hashable {
  /// Its name.
  package let name: String
  /// The authentication scheme in front of the secret (RFC 9110, section 11.1), for `Authorization` alone; empty for none.
  package let scheme: String

  /// A field.
  package init(name: String, scheme: String) {
    self.name = name
    self.scheme = scheme
  }
}

/// A token of another profile that a request shows: its subject, its actor or its assertion.
package struct SubjectReference: Sendable, Hashable {
  /// The other profile.
  package let profile: ProfileName
  /// Whether it is the ID token of that profile's session, and not its access token.
  package let isIDToken: Bool
  /// Whether it is an assertion, which is good for one request (RFC 7523, section 3): what was issued for it lives on
  /// without it.
  package let isAssertion: Bool

  /// A reference.
  package init(_ profile: ProfileName, isIDToken: Bool = false, isAssertion: Bool = false) {
    self.profile = profile
    self.isIDToken = isIDToken
    self.isAssertion = isAssertion
  }
}

/// Such a token.
package struct SubjectToken: Sendable {
  /// The token.
  package let value: Secret
  /// When it ends, by this machine's clock; nil where that is not known.
  package let end: Timestamp?

  /// A token.
  package init(_ value: Secret, end: Timestamp? = nil) {
    self.value = value
    self.end = end
  }
}
